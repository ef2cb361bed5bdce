using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace QuickSilver.Core.Transport.Datagrams;

// The descriptor is used bare, without a reference count per call: the port closes it on the thread that calls here.
[SupportedOSPlatform("linux")]
internal sealed unsafe class LinuxDatagramCalls(Socket socket) : IDatagramCalls
{
    private readonly int _descriptor = (int)socket.Handle;

    public CallOutcome Send(ReadOnlySpan<byte> bytes, DatagramAddress destination)
    {
        var address = destination.SocketAddress;
        while (true)
        {
            nint sent;
            fixed (byte* from = bytes)
            fixed (byte* to = address.Buffer.Span)
            {
                sent = LinuxCalls.sendto(_descriptor, from, bytes.Length, LinuxCalls.MsgDontWait, to, address.Size);
            }

            if (sent >= 0)
            {
                return CallOutcome.Done;
            }

            switch (Marshal.GetLastPInvokeError())
            {
                case LinuxCalls.EINTR:
                    continue;
                case LinuxCalls.EAGAIN or LinuxCalls.ENOBUFS or LinuxCalls.ENOMEM:
                    return CallOutcome.Busy;
                case LinuxCalls.EIO or LinuxCalls.EINVAL or LinuxCalls.EMSGSIZE or LinuxCalls.EOPNOTSUPP:
                    return CallOutcome.Unfit;
                default:
                    return CallOutcome.Refused;
            }
        }
    }

    public int Receive(Span<byte> into)
    {
        nint received;
        fixed (byte* to = into)
        {
            received = LinuxCalls.recv(_descriptor, to, into.Length, LinuxCalls.MsgDontWait);
        }

        if (received >= 0)
        {
            return (int)received;
        }

        int error = Marshal.GetLastPInvokeError();
        return error == LinuxCalls.EAGAIN ? IDatagramCalls.NothingWaits : -error;
    }

    public bool TrySetSegmentBytes(int segmentBytes) => SegmentationOffload.TrySetSegmentBytes(socket, segmentBytes);
}
