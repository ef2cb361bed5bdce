using QuickSilver.Endpoints;
using QuickSilver.Inboxes;

namespace QuickSilver.Transfers;

// Gives content to other nodes in letters, beside the core thread. Few places: each may hold much memory. When all are taken, the slowest
// one gives way if it is slow for long; otherwise the node that asks gets the letter that declines, and asks another one. A letter that
// has no room for LetterLimit ends what is given. Core thread only.
/// <param name="routes">The ways to the inboxes of nodes.</param>
/// <param name="core">The node.</param>
/// <param name="perNode">The places of one node. When it asks for more, its oldest one gives way.</param>
/// <param name="failed">Called beside the core thread with what the content threw, and the node.</param>
internal sealed class BulkGiver(InboxRoutes routes, IEndpointNode core, int perNode, Action<Exception, NodeId> failed)
{
    public const int MostAtOnce = 4;
    public static readonly TimeSpan LetterLimit = TimeSpan.FromSeconds(3);
    // When all places are taken, the slowest one gives way if it has had this time and was slower than this.
    private static readonly TimeSpan SlowAfter = TimeSpan.FromSeconds(5);
    private const long SlowBytesPerSecond = 1 << 20;
    // The letters that decline and wait for room, so that nodes that ask again and again cost no memory.
    private const int MostDeclining = 64;

    // In the order in which they began.
    private readonly List<Giving> _running = [];
    private int _declining;

    /// <summary>How much is given now.</summary>
    public int Running => _running.Count;

    /// <summary>Begins to give. The letters are disposed when nothing more of them is given.</summary>
    public void Give(NodeId to, IBulkLetters letters)
    {
        if (Leaving(to) is { } leaving)
        {
            End(leaving);
        }

        if (_running.Count >= MostAtOnce)
        {
            Decline(to, letters);
            return;
        }

        var giving = new Giving(this, to, letters, core.Environment.Now, new CancellationTokenSource(LetterLimit, core.OutsideTime));
        _running.Add(giving);
        core.Environment.RunBeside(giving);
    }

    /// <summary>The letters that are given to a node and meet the condition; null if there are none.</summary>
    public TLetters? Find<TLetters>(NodeId to, Predicate<TLetters> isMeant)
        where TLetters : class, IBulkLetters =>
        _running.Find(one => one.To == to && one.Letters is TLetters letters && isMeant(letters))?.Letters as TLetters;

    /// <summary>Gives no more of the letters.</summary>
    public void End(IBulkLetters letters)
    {
        if (_running.Find(one => ReferenceEquals(one.Letters, letters)) is { } giving)
        {
            End(giving);
        }
    }

    /// <summary>Gives nothing more.</summary>
    public void Close()
    {
        foreach (var giving in _running.ToArray())
        {
            End(giving);
        }
    }

    private void End(Giving giving)
    {
        _running.Remove(giving);
        giving.Limit.Cancel();
        giving.Letters.End();
    }

    private Giving? Leaving(NodeId to)
    {
        Giving? oldest = null;
        int ofNode = 0;
        foreach (var one in _running)
        {
            if (one.To == to)
            {
                oldest ??= one;
                ofNode++;
            }
        }

        return ofNode >= perNode ? oldest : _running.Count >= MostAtOnce ? Slowest() : null;
    }

    private Giving? Slowest()
    {
        Giving? slowest = null;
        double least = SlowBytesPerSecond;
        foreach (var one in _running)
        {
            var time = core.Environment.Now - one.BegunAt;
            double rate = one.Bytes / Math.Max(1, time.TotalSeconds);
            if (time >= SlowAfter && rate < least)
            {
                (slowest, least) = (one, rate);
            }
        }

        return slowest;
    }

    // A node that gets no answer asks another one after a while.
    private void Decline(NodeId to, IBulkLetters letters)
    {
        if (_declining < MostDeclining)
        {
            _declining++;
            _ = DeclineAsync(to, letters.Busy);
        }

        letters.Dispose();
    }

    private async Task DeclineAsync(NodeId to, ReadOnlyMemory<byte> letter)
    {
        using var limit = new CancellationTokenSource(LetterLimit, core.OutsideTime);
        try
        {
            await routes.SendAsync(to, letter, limit.Token).ConfigureAwait(core.ResumesInContext);
        }
        finally
        {
            core.Run(() => _declining--);
        }
    }

    private async Task GiveAsync(Giving giving)
    {
        var (to, letters, limit) = (giving.To, giving.Letters, giving.Limit);
        try
        {
            limit.CancelAfter(Timeout.InfiniteTimeSpan);
            if (!await routes.OpenAsync(to).ConfigureAwait(core.ResumesInContext))
            {
                return;
            }

            while (await letters.MoveNextAsync().ConfigureAwait(core.ResumesInContext))
            {
                // Not sent and withdrawn: that would count as undelivered, as if the node were gone.
                if (limit.IsCancellationRequested)
                {
                    return;
                }

                var letter = letters.Current;
                limit.CancelAfter(LetterLimit);
                await routes.SendAsync(to, letter, limit.Token).ConfigureAwait(core.ResumesInContext);
                giving.OnSent(letter.Length);
                // The node does not take it in time, or the place went to another one.
                if (limit.IsCancellationRequested)
                {
                    return;
                }

                // The next letter may be waited for longer: it has limits of its own.
                limit.CancelAfter(Timeout.InfiniteTimeSpan);
            }
        }
        catch (Exception exception)
        {
            // The content, which an application's codec or a disk may provide, may throw anything, and there may be no memory. The other
            // node asks again, and other nodes.
            failed(exception, to);
        }
        finally
        {
            core.Run(() =>
            {
                _running.Remove(giving);
                limit.Dispose();
                letters.Dispose();
            });
        }
    }

    private sealed class Giving(BulkGiver giver, NodeId to, IBulkLetters letters, TimeSpan begunAt, CancellationTokenSource limit)
        : IThreadPoolWorkItem
    {
        private long _bytes;

        public NodeId To => to;

        public IBulkLetters Letters => letters;

        public TimeSpan BegunAt => begunAt;

        public CancellationTokenSource Limit => limit;

        /// <summary>Those that were sent so far. From any thread.</summary>
        public long Bytes => Volatile.Read(ref _bytes);

        public void OnSent(int bytes) => Volatile.Write(ref _bytes, _bytes + bytes);

        public void Execute() => _ = giver.GiveAsync(this);
    }
}
