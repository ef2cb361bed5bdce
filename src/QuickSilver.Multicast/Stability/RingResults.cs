using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// What the rounds of one ring have found, at the leader of the ring, and what it has sent to the senders.
internal sealed class RingResults(RingHierarchy rings)
{
    private readonly Dictionary<StreamKey, RingResult> _byStream = [];

    /// <summary>The datagrams that the kernels of all members under the ring have dropped, from the last whole round.</summary>
    public long KernelDrops { get; private set; }

    /// <summary>The smallest receive buffer of all members under the ring, from the last whole round.</summary>
    public long ReceiveBufferBytes { get; private set; }

    public RingResult? Find(StreamKey stream) => _byStream.GetValueOrDefault(stream);

    public RingResult FindOrAdd(StreamKey stream)
    {
        if (!_byStream.TryGetValue(stream, out var result))
        {
            result = new RingResult();
            _byStream.Add(stream, result);
        }

        return result;
    }

    public void Forget(StreamKey stream) => _byStream.Remove(stream);

    /// <summary>Resumes all records, so that rounds with the changed members find the values again.</summary>
    public void OnMembersChanged()
    {
        foreach (var result in _byStream.Values)
        {
            result.QuietRounds = 0;
        }
    }

    /// <summary>Takes what a whole round has found about the members' buffers.</summary>
    public void Take(Token token)
    {
        KernelDrops = token.KernelDrops;
        ReceiveBufferBytes = token.ReceiveBufferBytes;
    }

    /// <summary>Takes what a round has found about one stream. Returns true if a value has grown.</summary>
    public static bool Take(RecoveryRecord record, RingResult result, bool isWhole, TimeSpan roundBegan)
    {
        bool isNews = record.HeldByAny > result.HeldByAny;
        result.HeldByAny = Math.Max(result.HeldByAny, record.HeldByAny);
        result.TakeUnheld(record.Unheld, roundBegan);
        if (!isWhole)
        {
            return isNews;
        }

        isNews |= record.HeldByAll > result.HeldByAll || record.ConsumedByAll > result.ConsumedByAll
            || record.ReadByAll > result.ReadByAll || record.ReplicatedByAll > result.ReplicatedByAll;
        result.HeldByAll = Math.Max(result.HeldByAll, record.HeldByAll);
        result.ConsumedByAll = Math.Max(result.ConsumedByAll, record.ConsumedByAll);
        result.ReadByAll = Math.Max(result.ReadByAll, record.ReadByAll);
        result.ReplicatedByAll = Math.Max(result.ReplicatedByAll, record.ReplicatedByAll);
        result.HeldRanges = record.HeldRanges;
        if (record.IsGathering && !record.IsPartial && record.Epoch > result.Epoch)
        {
            result.Epoch = record.Epoch;
            result.IsRefused = record.IsRefused;
            UnheldPackets.Copy(record.LackedByAll, result.Lacked);
            isNews = true;
        }

        return isNews;
    }

    /// <summary>
    /// At the root's leader: reports to the sender what all members hold, unless it got the same report before, and what all of them lack.
    /// After a round that has skipped members, only if there is something that those lack that were heard.
    /// </summary>
    public void Acknowledge(RecoveryRecord record, StreamSettlement settlement, RingResult result, SequenceRanges lacked, bool isWhole)
    {
        if (!isWhole && lacked.IsEmpty)
        {
            return;
        }

        var (consumed, read) = isWhole ? (record.ConsumedByAll, record.ReadByAll) : (result.ConsumedByAll, result.ReadByAll);
        var ack = new AggregateAck(
            record.Stream.Sender, settlement.Stable, consumed, read, KernelDrops, ReceiveBufferBytes, rings.Live.Gone);
        if (ack == result.LastAck && result.QuietRounds > 0 && lacked.IsEmpty)
        {
            return;
        }

        result.LastAck = ack;
        if (rings.Context.Directory.Find(record.Stream.Sender) is { } address)
        {
            Span<byte> packet = stackalloc byte[AggregateAck.MostBytes];
            ack = ack with { Age = rings.Context.Environment.Now - result.UnheldSince };
            int bytes = ack.Write(packet, rings.Template.Of(record.Stream.Class.Value), lacked, result.HeldRanges);
            rings.Context.SendControl(packet[..bytes], address);
            rings.Context.Counters.CollectiveNaksSent += lacked.IsEmpty ? 0 : 1;
        }
    }
}
