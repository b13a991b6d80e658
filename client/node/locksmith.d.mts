/// <reference lib="esnext.disposable" />
/** Locks that machines share, held by a locksmith helper process: see locksmith.mjs and README.md. */

export interface Options {
  /** Gives up after so many milliseconds of waiting, with HeldError; Infinity: never; 0, or a time that is over: after one try. */
  timeout?: number;
  /** Gives up the waiting, with CancelledError. */
  signal?: AbortSignal;
  /** Is called after each refusal, and decides how to wait. */
  ask?: (refusal: Refusal) => Answer | PromiseLike<Answer>;
  /** Other shared holders may have the lock, too. */
  shared?: boolean;
  /** Times in milliseconds: see locksmith hold --help. */
  lease?: number;
  refresh?: number;
  maxHold?: number;
  respite?: number;
  retries?: number;
  strict?: boolean;
  /** Pairs of times. */
  poll?: readonly [number, number];
  slow?: readonly [number, number];
  /** What others see of the holder. */
  meta?: Readonly<Record<string, string>>;
  /** Is called with each line of the helper's standard error; false: the lines are dropped. */
  log?: false | ((line: string) => void);
  /** The lock keeps the process running while it is held. */
  ref?: boolean;
  /** The helper's command. */
  helper?: readonly string[];
  /** How many milliseconds the helper may take to end. */
  killAfter?: number;
}

/** What the option ask is told: waited in milliseconds. */
export interface Refusal {
  tries: number;
  waited: number;
  held: HeldError;
}

/**
 * How long to pause before the next try, in milliseconds. Nothing, or 0: the helper waits as without ask, until it sees
 * another holder; usual: the same, for so long; false: gives up, with HeldError.
 */
export type Answer = number | false | null | undefined | void | { usual: number };

/** Who holds a lock, as far as it is known; age in milliseconds. */
export interface Holder {
  id?: string;
  user?: string;
  host?: string;
  program?: string;
  pid?: number;
  age?: number;
}

export class LocksmithError extends Error {
  /** As in protocol/README.md, such as held or gone. */
  readonly code?: string;
}
export class HeldError extends LocksmithError {
  readonly holder: Holder;
  readonly waited?: number;
}
export class HelperError extends LocksmithError {
  readonly waited?: number;
}
/** Its name is AbortError, and its cause the reason of the signal. */
export class CancelledError extends LocksmithError {
  readonly holder: Holder;
  readonly waited: number;
  readonly cause: unknown;
}
export class LostError extends LocksmithError {}
export class NoHelperError extends LocksmithError {}
export class ProtocolError extends LocksmithError {}

/** A lock that this process holds, or held. */
export class Lock {
  private constructor();
  readonly address: string;
  readonly id: string;
  /** The fencing token; 0n where there is none. */
  readonly token: bigint;
  readonly tokens: readonly bigint[];
  readonly mode: 'exclusive' | 'shared' | 'mixed';
  /** How many milliseconds the helper waited. */
  readonly waited: number;
  readonly error?: LostError;
  /** Aborts when the lock is lost, with the LostError as its reason. */
  readonly signal: AbortSignal;
  readonly lost: boolean;
  /** Resolves when the lock has been removed: true the first time, then false. Rejects with LostError. */
  release(): Promise<boolean>;
  /** For "await using". */
  [Symbol.asyncDispose](): Promise<void>;
}

export function acquire(locks: string | readonly string[], options?: Options): Promise<Lock>;
export function tryAcquire(locks: string | readonly string[], options?: Omit<Options, 'timeout'>): Promise<Lock>;
