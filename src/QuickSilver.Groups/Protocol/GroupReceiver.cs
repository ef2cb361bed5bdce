using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Questions;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Holding;

namespace QuickSilver.Groups.Protocol;

// A member's receiving half, behind the queue of messages that wait for their order: passes messages and views on as one sequence, and
// keeps what is the protocol's.
internal sealed class GroupReceiver(
    IDeliverySink sink, GroupGate gate, NodeKey self, AskedQuestions asked, Action<long> flushing, Action refused)
    : IDeliverySink, ITopicReceiver
{
    // A view is a message of this node to itself that has no number.
    private const long NoNumber = 0;

    public GroupGate Gate => gate;

    public HoldingSink Holding { get; set; } = null!;

    public Action? OnClose { get; set; }

    public string? WhyFull => sink.WhyFull;

    public string? Name
    {
        get => Holding.Name;
        set => Holding.Name = value;
    }

    long ITopicReceiver.Taken => Holding.Taken;

    public bool TryAccept(in DeliveredMessage message)
    {
        switch (GroupFrames.Of(message.Span))
        {
            case GroupFrame.Orders or GroupFrame.Handover:
                return true;
            case GroupFrame.View or null:
                // No member sends it.
                refused();
                return true;
            default:
                return TryPass(message);
        }
    }

    public bool TryAcceptView(MemberView view)
    {
        if (gate.IsSuspended)
        {
            return false;
        }

        byte[] body = ViewBody.Of(view);
        var message = new DeliveredMessage(self);
        message.Set(view.TopicId, NoNumber, body, offset: 0, body.Length);
        if (!sink.TryAccept(message))
        {
            return false;
        }

        asked.OnView(view);
        return true;
    }

    public void OnGap(in TopicGap gap) => sink.OnGap(gap);

    public void OnFlush(IFlushBarrier barrier)
    {
        flushing(barrier.Configuration);
        sink.OnFlush(barrier);
    }

    public void Resume() => Holding.Resume();

    public void AwaitLast(long configuration, Action settled, Action completed) => Holding.AwaitLast(configuration, settled, completed);

    public IReadOnlyList<UntakenRange> Untaken() => Holding.Untaken();

    public void Close()
    {
        OnClose?.Invoke();
        Holding.Close();
    }

    private bool TryPass(in DeliveredMessage message)
    {
        if (!sink.TryAccept(message))
        {
            return false;
        }

        if (message.Sender == self && GroupFrames.IsQuestion(message.Span)
            && QuestionHead.TryRead(message.Span[GroupFrames.BeginOf(message.Span)..], out var question))
        {
            asked.OnDelivered(question.Id);
        }

        return true;
    }
}
