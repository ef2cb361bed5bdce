#!/usr/bin/env bash
# A send with UDP_SEGMENT whose bytes fit into a datagram, to a socket with UDP_GRO on the loopback interface.
#
# Guess:    all bytes that a datagram may have, 65,507 over IPv4, are handed over in one receive, because the path cuts nothing.
# Behavior: up to 65,493 bytes they are. Above, the kernel cuts the buffer before the device, and the receiver gets single datagrams: one
#           receive for each segment. The send succeeds all the same.
# Seen:     Linux 6.18.
set -euo pipefail
[ "$(uname -s)" = Linux ] || { echo "skipped: this is about Linux"; exit 77; }
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cat > "$folder/app.cs" <<'CS'
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

using var receiver = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
receiver.Bind(new IPEndPoint(IPAddress.Loopback, 0));
receiver.ReceiveBufferSize = 1 << 20;
receiver.ReceiveTimeout = 2000;
Set(receiver, 104, 1);
using var sender = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
sender.Connect(receiver.LocalEndPoint!);
var buffer = new byte[70_000];
// The last is the first whose whole segments end between the two limits.
foreach (var (segment, bytes) in new[] { (1472, 64_768), (1191, 64_314), (1191, 65_505) })
{
    Set(sender, 103, segment);
    int sent = sender.Send(buffer.AsSpan(0, bytes));
    Console.WriteLine($"{bytes} bytes in segments of {segment}: {sent} sent, first receive {receiver.Receive(buffer)}");
    while (receiver.Available > 0)
    {
        receiver.Receive(buffer);
    }
}

static void Set(Socket socket, int option, int value) =>
    socket.SetRawSocketOption(17, option, MemoryMarshal.AsBytes(new ReadOnlySpan<int>(in value)));
CS
seen=$(cd "$folder" && dotnet run app.cs)
echo "Linux $(uname -r)"
echo "$seen"
expected='64768 bytes in segments of 1472: 64768 sent, first receive 64768
64314 bytes in segments of 1191: 64314 sent, first receive 64314
65505 bytes in segments of 1191: 65505 sent, first receive 1191'
if [ "$seen" = "$expected" ]; then
    echo "as found: the longest send is not joined"
else
    echo "changed: expected"
    echo "$expected"
    exit 1
fi
