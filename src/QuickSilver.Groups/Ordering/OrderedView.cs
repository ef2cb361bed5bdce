using System.Collections.Immutable;
using System.Runtime.InteropServices;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Groups.Ordering;

// The order of the messages of one view. One member orders, at first the oldest (Isis, ABCAST with a sequencer): its stream is the order.
// An order message in that stream stands for the messages of others that it lists, and a message of the orderer itself stands where it is.
// So all members pass the same sequence, each as far as messages have arrived. A causal message waits for those that it names.
//
// The orderer may hand the order over to another member (Isis' movable token): where its stream says so, the stream of the other becomes
// the order. All members have passed the same messages in the order by then. So the other's own messages that were not ordered come next,
// and it orders what is left of the rest.
//
// When the view ends, all of its members hold the same messages and the same orders, and pass what is left by the same plan (ViewPlan).
//
// Invariant: the order message at the head of the orderer's stream is passed when all that it lists was passed.
/// <param name="view">The view.</param>
/// <param name="self">This node.</param>
/// <param name="roundsToMove">The rounds after which the order moves; null: it does not.</param>
internal sealed class OrderedView(MemberView view, NodeKey self, int? roundsToMove = null)
{
    private readonly Dictionary<NodeKey, int> _ranks = RanksOf(view.Members);
    private readonly Dictionary<NodeKey, SenderProgress> _senders = [];
    // How much of the order message at the head of the orderer's stream is done, and which it is.
    private long _listNumber;
    private int _done;
    private ViewPlan? _plan;
    // The message by which the order came to the orderer. Default: it is the oldest member.
    private OrderStep _moved;
    // The message whose steps were read last, and these: a message that must wait is read before it is held, and then kept with them.
    private OrderStep _read;
    private OrderStep[] _readSteps = [];
    private int _strangers;

    public long Configuration => view.Configuration;

    public ImmutableArray<NodeKey> Members => view.Members;

    /// <summary>The member whose stream is the order, behind all that was passed.</summary>
    public NodeKey Orderer { get; private set; } = view.Members is [var oldest, ..] ? oldest : default;

    /// <summary>This node orders what arrives.</summary>
    public bool IsOrdering { get; private set; } = view.Members is [var first, ..] && first == self;

    /// <summary>All messages of the view have arrived.</summary>
    public bool IsEnding { get; private set; }

    /// <summary>If this node orders: what it has ordered and not sent yet.</summary>
    public PendingOrders Pending { get; } = new();

    /// <summary>If this node orders: whose messages these are.</summary>
    public OrderTraffic Traffic { get; } = new(roundsToMove);

    /// <summary>
    /// If this node orders, and has sent all orders: the member that it hands the order over to; null: it keeps it. What a safe message
    /// waits for is one handover, so there is no second one before all members hold it.
    /// </summary>
    public NodeKey? Successor =>
        IsOrdering && !IsEnding && Traffic.Successor is { } next && RankOf(next) < int.MaxValue && IsMoveStable ? next : null;

    private bool IsMoveStable => _moved.Through == 0 || Of(_moved.Sender).Stable >= _moved.Through;

    /// <summary>The maximum size of what <see cref="WriteCauses"/> writes.</summary>
    public int MostCausesBytes => (Members.Length * StepsBody.StepBytes) + (_strangers * StepsBody.KeyBytes);

    /// <summary>The rank of a member; <see cref="int.MaxValue"/> for a node that is none.</summary>
    public int RankOf(NodeKey node) => _ranks.GetValueOrDefault(node, int.MaxValue);

    public void End()
    {
        IsEnding = true;
        Pending.Clear();
    }

    /// <summary>This node has sent that another one orders.</summary>
    public void HandOver() => IsOrdering = false;

    /// <summary>A message by which another member orders is passed. If it is this one, it orders what is held of others.</summary>
    public void OnHandover(in DeliveredMessage message)
    {
        if (message.Sender != Orderer || HeadStepsOf(message, GroupFrame.Handover) is not [var step])
        {
            return;
        }

        Orderer = step.Sender;
        _moved = new OrderStep(message.Sender, message.Sequence);
        // The orders of the next one have other numbers.
        _listNumber = 0;
        _done = 0;
        if (Orderer == self && !IsEnding)
        {
            IsOrdering = true;
            foreach (var progress in _senders.Values)
            {
                if (progress.Sender != self && progress.LastToOrder() is > 0 and var last)
                {
                    Pending.Add(progress.Sender, last);
                }
            }
        }
    }

    public void OnHeld(in DeliveredMessage message, GroupFrame? frame) =>
        Of(message.Sender).Hold(new HeldMessage(message.Sequence, frame ?? GroupFrame.Fifo, StepsOf(message, frame)));

    /// <summary>The messages of the sender up to this one were passed, or will not come. It falls when a message is refused.</summary>
    public void SetPassed(NodeKey sender, long number)
    {
        Of(sender).Passed = number;
        _read = default;
    }

    public void OnStable(NodeKey sender, long through) => Of(sender).Stable = through;

    /// <summary>Whether a message, the next of its sender, may be passed.</summary>
    public bool MayPass(in DeliveredMessage message, GroupFrame? frame)
    {
        if (IsEnding)
        {
            // A message that was not held when the view ended cannot be of this view.
            return (_plan ??= new ViewPlan(_senders.Values, Orderer)).IsNext(message.Sender, message.Sequence);
        }

        return frame switch
        {
            GroupFrame.Causal => ArePassed(HeadStepsOf(message, frame)),
            GroupFrame.Total => MayPassInOrder(message.Sender, message.Sequence, isSafe: false),
            GroupFrame.Safe => MayPassInOrder(message.Sender, message.Sequence, isSafe: true),
            GroupFrame.Orders or GroupFrame.Handover => MayPassFromOrderer(message, frame),
            _ => true,
        };
    }

    /// <summary>
    /// Writes what this node has passed and not named yet, for its next causal message. What it named before, its earlier message waits
    /// for, which comes first anyway. Gives the number of steps and the bytes. What a member sends while it leaves may come in a view
    /// without it, and is named as well.
    /// </summary>
    public (int Steps, int Bytes) WriteCauses(NodeKey self, Span<byte> destination)
    {
        int steps = 0;
        int bytes = 0;
        foreach (var progress in _senders.Values)
        {
            if (progress.Sender != self && progress.Passed > progress.Named)
            {
                bytes += StepsBody.Write(destination[bytes..], progress.Rank, new OrderStep(progress.Sender, progress.Passed));
                steps++;
            }
        }

        return (steps, bytes);
    }

    /// <summary>The message with these causes was sent.</summary>
    public void OnCausesSent()
    {
        foreach (var progress in _senders.Values)
        {
            progress.Named = progress.Passed;
        }
    }

    private bool MayPassInOrder(NodeKey sender, long number, bool isSafe)
    {
        // Those that are left of the view know who orders only by the message that says so.
        if (isSafe && (Of(sender).Stable < number || !IsMoveStable))
        {
            return false;
        }

        if (sender == Orderer)
        {
            return true;
        }

        // The same holds for the place in the order.
        return IsNextInList(sender, number) && (!isSafe || Of(Orderer).Stable >= _listNumber);
    }

    // Whether the order names this message of the sender, its next, as the next of all.
    private bool IsNextInList(NodeKey sender, long number)
    {
        if (!Of(Orderer).TryPeek(out var list) || list.Frame != GroupFrame.Orders)
        {
            return false;
        }

        // Whichever message is asked about first.
        Begin(list.Number);
        for (; _done < list.Steps.Length; _done++)
        {
            var step = list.Steps[_done];
            if (step.Sender == sender && number <= step.Through)
            {
                return true;
            }

            // The messages of a sender come in their order, so none up to the step is left if this one is behind it.
            if (step.Sender != sender && Of(step.Sender).Passed < step.Through)
            {
                return false;
            }
        }

        return false;
    }

    // A member sends these after the order has come to it, which may be known here only later.
    private bool MayPassFromOrderer(in DeliveredMessage message, GroupFrame? frame)
    {
        var steps = HeadStepsOf(message, frame);
        return steps.Length == 0
            || (message.Sender == Orderer && (frame == GroupFrame.Handover || IsExhausted(message.Sequence, steps)));
    }

    private bool IsExhausted(long number, OrderStep[] steps)
    {
        Begin(number);
        while (_done < steps.Length && Of(steps[_done].Sender).Passed >= steps[_done].Through)
        {
            _done++;
        }

        return _done == steps.Length;
    }

    private void Begin(long list)
    {
        if (_listNumber != list)
        {
            _listNumber = list;
            _done = 0;
        }
    }

    private bool ArePassed(OrderStep[] causes)
    {
        foreach (var cause in causes)
        {
            if (Of(cause.Sender).Passed < cause.Through)
            {
                return false;
            }
        }

        return true;
    }

    private OrderStep[] HeadStepsOf(in DeliveredMessage message, GroupFrame? frame) =>
        Of(message.Sender).TryPeek(out var first) && first.Number == message.Sequence ? first.Steps : StepsOf(message, frame);

    // Only members order. A handover that does not name one member says nothing.
    private OrderStep[] StepsOf(in DeliveredMessage message, GroupFrame? frame)
    {
        bool hasSteps = frame == GroupFrame.Causal
            || (frame is GroupFrame.Orders or GroupFrame.Handover && RankOf(message.Sender) < int.MaxValue);
        if (!hasSteps)
        {
            return [];
        }

        var which = new OrderStep(message.Sender, message.Sequence);
        if (_read != which)
        {
            var steps = StepsBody.Read(message.Span, Configuration, Members.AsSpan());
            bool isNone = frame == GroupFrame.Handover && (steps is not [var step] || RankOf(step.Sender) == int.MaxValue);
            (_read, _readSteps) = (which, isNone ? [] : steps);
        }

        return _readSteps;
    }

    private SenderProgress Of(NodeKey sender)
    {
        ref var progress = ref CollectionsMarshal.GetValueRefOrAddDefault(_senders, sender, out _);
        if (progress is null)
        {
            progress = new SenderProgress(sender, RankOf(sender));
            _strangers += progress.Rank < ushort.MaxValue ? 0 : 1;
        }

        return progress;
    }

    private static Dictionary<NodeKey, int> RanksOf(ImmutableArray<NodeKey> members)
    {
        var ranks = new Dictionary<NodeKey, int>(members.Length);
        for (int i = 0; i < members.Length; i++)
        {
            ranks[members[i]] = i;
        }

        return ranks;
    }
}
