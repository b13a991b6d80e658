# A parent in Ruby, by the page on the protocol.
lock = ARGV.fetch(0)
IO.popen(["locksmith", "hold", "--stdin", "watch", "--", lock], "r+") do |helper|
  line = helper.gets or abort "no lock: the helper says nothing"
  abort "no lock: #{line}" unless line.end_with?("\n") && line.start_with?("OK ")
  proto = line[/ proto=(\d+)/, 1]
  abort "no lock: the protocol is #{proto}" unless proto == "1"
  puts "working"
  $stdout.flush
  helper.close_write
  Process.wait(helper.pid)
  exit 0 if $?.success?
  abort "lost the lock"
end
