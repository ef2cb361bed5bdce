using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Datagrams;

// Where there are no calls of our own. The managed socket throws for a send that fails, so a busy system costs an
// exception per refusal here; receiving does not throw.
internal sealed class ManagedDatagramCalls(Socket socket) : IDatagramCalls
{
    public CallOutcome Send(ReadOnlySpan<byte> bytes, DatagramAddress destination)
    {
        try
        {
            socket.SendTo(bytes, SocketFlags.None, destination.SocketAddress);
            return CallOutcome.Done;
        }
        catch (SocketException refusal)
        {
            return refusal.SocketErrorCode switch
            {
                SocketError.WouldBlock or SocketError.NoBufferSpaceAvailable or SocketError.TryAgain => CallOutcome.Busy,
                SocketError.MessageSize or SocketError.InvalidArgument or SocketError.OperationNotSupported => CallOutcome.Unfit,
                _ => CallOutcome.Refused,
            };
        }
        catch (ObjectDisposedException)
        {
            return CallOutcome.Refused;
        }
    }

    public int Receive(Span<byte> into)
    {
        int received = socket.Receive(into, SocketFlags.None, out var error);
        return error switch
        {
            SocketError.Success => received,
            SocketError.WouldBlock => IDatagramCalls.NothingWaits,
            // SocketError.SocketError is -1.
            _ => -Math.Abs((int)error),
        };
    }

    public bool TrySetSegmentBytes(int segmentBytes) => SegmentationOffload.TrySetSegmentBytes(socket, segmentBytes);
}
