using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Streams;

// The end of a stream that its node has closed: what was queued goes out, and what the peer still sends is read and dropped, because unread
// bytes at the close would make the system reset the connection and lose what was sent last.
//
// A task, as the core thread may end meanwhile. It tries and rests in turn: the poller may be gone, and there is nobody to hurry for.
internal static class LingeringClose
{
    // How long a closed stream may take to hand over what was queued, such as the reason why it closes.
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan FirstRest = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LongestRest = TimeSpan.FromMilliseconds(16);

    public static async Task Begin(Socket socket, Queue<ReadOnlyMemory<byte>> rest)
    {
        // First off the core thread.
        await Task.Yield();
        using var limit = new CancellationTokenSource(Limit);
        try
        {
            await SendAsync(socket, rest, limit.Token);
            socket.Shutdown(SocketShutdown.Send);
            await DiscardAsync(socket, limit.Token);
        }
        catch (Exception failure) when (failure is SocketException or ObjectDisposedException or OperationCanceledException)
        {
            // Closed is closed; who cares for an answer waits for it before closing.
        }

        socket.Dispose();
    }

    private static async Task SendAsync(Socket socket, Queue<ReadOnlyMemory<byte>> rest, CancellationToken limit)
    {
        var rests = FirstRest;
        while (rest.TryDequeue(out var piece))
        {
            while (!piece.IsEmpty)
            {
                int sent = socket.Send(piece.Span, SocketFlags.None, out var error);
                rests = await Next(error, sent > 0, rests, limit);
                piece = piece[sent..];
            }
        }
    }

    private static async Task DiscardAsync(Socket socket, CancellationToken limit)
    {
        var scratch = new byte[16 << 10];
        var rests = FirstRest;
        while (true)
        {
            int received = socket.Receive(scratch, SocketFlags.None, out var error);
            if (received == 0 && error == SocketError.Success)
            {
                return;
            }

            rests = await Next(error, received > 0, rests, limit);
        }
    }

    private static async Task<TimeSpan> Next(SocketError error, bool isAnyDone, TimeSpan rest, CancellationToken limit)
    {
        if (isAnyDone)
        {
            limit.ThrowIfCancellationRequested();
            return FirstRest;
        }

        if (error is not (SocketError.Success or SocketError.WouldBlock or SocketError.NoBufferSpaceAvailable))
        {
            throw new SocketException((int)error);
        }

        await Task.Delay(rest, limit);
        return rest * 2 < LongestRest ? rest * 2 : LongestRest;
    }
}
