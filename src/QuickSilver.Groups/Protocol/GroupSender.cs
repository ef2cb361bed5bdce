using QuickSilver.Core.Flow;
using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Questions;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Groups.Protocol;

// A member's sending half: what the application sends, and what the node orders. Both go in one stream, because the place of the orderer's
// own messages in it is their place in the order. When there is room again, orders are first: others wait for them.
internal sealed class GroupSender : ITopicSender, ISenderFeed
{
    private readonly ITopicSender _sender;
    private readonly OpenGroup _group;
    private readonly Action _closed;
    private byte[] _causal = [];

    /// <param name="sender">The sender of the channel.</param>
    /// <param name="group">The group.</param>
    /// <param name="closed">Called when the sender is closed.</param>
    public GroupSender(ITopicSender sender, OpenGroup group, Action closed)
    {
        _sender = sender;
        _group = group;
        _closed = closed;
        sender.Feed = this;
    }

    public string? Name
    {
        get => _sender.Name;
        set => _sender.Name = value;
    }

    public long MostBytes => _sender.MostBytes - MostCausesBytes(_group.Causes);

    public ISenderFeed? Feed { get; set; }

    public int RoomBytes => _sender.RoomBytes;

    public long Count => _sender.Count;

    public StreamLimit Limit => _sender.Limit;

    public bool IsStable => _sender.IsStable;

    public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default)
    {
        var frame = GroupFrames.Of(payload);
        _group.HasSentOrdered |= frame is GroupFrame.Total or GroupFrame.Safe;
        long number = frame == GroupFrame.Causal
            ? TrySendCausal(payload, observer, extensions)
            : _sender.TrySend(payload, observer, extensions);
        if (number >= 0 && GroupFrames.IsQuestion(payload) && QuestionHead.TryRead(payload[1..], out var question))
        {
            _group.OnAsked(question.Id);
        }

        return number;
    }

    /// <summary>Sends an order message. False: there is no room; the orders are asked for when there is.</summary>
    public bool TrySendOrders(ReadOnlySpan<byte> body) => _sender.TrySend(body, observer: null) >= 0;

    public int Touch() => _sender.Touch();

    public bool AwaitRoom() => _sender.AwaitRoom();

    public void ObserveTaken(IStabilityObserver observer, long number, bool isLast) => _sender.ObserveTaken(observer, number, isLast);

    public void WhenStable(Action callback) => _sender.WhenStable(callback);

    public void Close()
    {
        _closed();
        _sender.Close();
    }

    bool ISenderFeed.Pull(ref PullBudget budget) => _group.SendOrders() && Feed is { } feed && feed.Pull(ref budget);

    private static int MostCausesBytes(OrderedView? view) => StepsBody.HeaderBytes + (view?.MostCausesBytes ?? 0);

    // Puts what the message comes after in front of it.
    private long TrySendCausal(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions)
    {
        var message = payload[1..];
        var view = _group.Causes;
        int most = MostCausesBytes(view) + message.Length;
        if (_causal.Length < most)
        {
            _causal = new byte[Math.Max(most, Math.Min(2 * _causal.Length, Array.MaxLength))];
        }

        var (steps, bytes) = view?.WriteCauses(_group.Self, _causal.AsSpan(StepsBody.HeaderBytes)) ?? (0, 0);
        StepsBody.WriteHeader(_causal, GroupFrame.Causal, view?.Configuration ?? 0, steps);
        _causal[0] = payload[0];
        message.CopyTo(_causal.AsSpan(StepsBody.HeaderBytes + bytes));
        long number = _sender.TrySend(_causal.AsSpan(0, StepsBody.HeaderBytes + bytes + message.Length), observer, extensions);
        if (number >= 0)
        {
            view?.OnCausesSent();
        }

        return number;
    }
}
