using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Streams;

// The end of a stream that its node has closed: what was queued goes out, and what the peer still sends is read and dropped, because unread
// bytes at the close would make the system reset the connection and lose what was sent last.
//
// On the stream thread, as the core thread may end meanwhile. It tries and rests in turn, as nothing waits for it.
internal static class LingeringClose
{
    // How long a closed stream may take to hand over what was queued, such as the reason why it closes.
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan FirstRest = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LongestRest = TimeSpan.FromMilliseconds(16);

    /// <summary>Begins to end a stream. From any thread; the task completes on the stream thread.</summary>
    public static Task Begin(StreamThread thread, Socket socket, Queue<ReadOnlyMemory<byte>> rest)
    {
        var done = new TaskCompletionSource();
        thread.Enter();
        thread.Schedule(_ => _ = EndAsync(thread, socket, rest, done), null);
        return done.Task;
    }

    private static async Task EndAsync(StreamThread thread, Socket socket, Queue<ReadOnlyMemory<byte>> rest, TaskCompletionSource done)
    {
        var until = thread.Now + Limit;
        try
        {
            await SendAsync(thread, socket, rest, until).ConfigureAwait(false);
            socket.Shutdown(SocketShutdown.Send);
            await DiscardAsync(thread, socket, until).ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is SocketException or ObjectDisposedException or OperationCanceledException)
        {
            // Closed is closed; a user that needs an answer waits for it before closing.
        }
        finally
        {
            socket.Dispose();
            thread.Leave();
            done.SetResult();
        }
    }

    private static async Task SendAsync(StreamThread thread, Socket socket, Queue<ReadOnlyMemory<byte>> rest, TimeSpan until)
    {
        var rests = FirstRest;
        while (rest.TryDequeue(out var piece))
        {
            while (!piece.IsEmpty)
            {
                int sent = socket.Send(piece.Span, SocketFlags.None, out var error);
                rests = await NextAsync(thread, error, sent > 0, rests, until).ConfigureAwait(false);
                piece = piece[sent..];
            }
        }
    }

    private static async Task DiscardAsync(StreamThread thread, Socket socket, TimeSpan until)
    {
        var rests = FirstRest;
        while (true)
        {
            int received = socket.Receive(thread.Scratch, SocketFlags.None, out var error);
            if (received == 0 && error == SocketError.Success)
            {
                return;
            }

            rests = await NextAsync(thread, error, received > 0, rests, until).ConfigureAwait(false);
        }
    }

    private static async Task<TimeSpan> NextAsync(StreamThread thread, SocketError error, bool isAnyDone, TimeSpan rest, TimeSpan until)
    {
        if (thread.Now >= until)
        {
            throw new OperationCanceledException();
        }

        if (isAnyDone)
        {
            return FirstRest;
        }

        if (error is not (SocketError.Success or SocketError.WouldBlock or SocketError.NoBufferSpaceAvailable))
        {
            throw new SocketException((int)error);
        }

        await thread.Delay(rest).ConfigureAwait(false);
        return rest * 2 < LongestRest ? rest * 2 : LongestRest;
    }
}
