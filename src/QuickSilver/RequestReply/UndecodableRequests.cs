using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Serialization;

namespace QuickSilver.RequestReply;

// Answers the requests that a responder cannot decode. They reach neither its buffer nor its handler, and without an answer their
// requesters would wait until the deadline. It exists before the responder does, because requests come as soon as the endpoint is open.
internal sealed class UndecodableRequests(InboxRoutes routes, IEndpointNode core)
{
    // A requester that takes nothing holds up no more of them.
    private const int MostWaiting = 256;
    private long _count;
    private int _waiting;

    /// <summary>From any thread.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>
    /// Core thread: nothing waits here, so an answer for which there is no room is sent when there is. Beyond a limit the deadline ends the
    /// request.
    /// </summary>
    public void Fail(NodeId requester, int box, long id, Exception exception)
    {
        Interlocked.Increment(ref _count);
        Interlocked.Increment(ref core.CounterCells.RepliesFailed);
        try
        {
            if (Volatile.Read(ref _waiting) < MostWaiting)
            {
                string error = $"The request cannot be decoded: {PayloadFormatException.InWords(exception)}";
                _ = SendAsync(requester, ReplyLetter.OfUndecodable(box, id, error));
            }
        }
        catch (Exception)
        {
            // The exception is of the application, so its message may throw, or there is no memory. The endpoint has logged it, and the
            // deadline ends the request.
        }
    }

    private async Task SendAsync(NodeId requester, ReadOnlyMemory<byte> letter)
    {
        Interlocked.Increment(ref _waiting);
        try
        {
            await routes.SendAsync(requester, letter).ConfigureAwait(core.ResumesInContext);
        }
        catch (Exception)
        {
            // The routes count it.
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
        }
    }
}
