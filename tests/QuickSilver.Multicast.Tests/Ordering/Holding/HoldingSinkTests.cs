using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Ordering.Holding;

// What waits behind a gate, in which order it is passed, and what is bounded; by calls.
public sealed class HoldingSinkTests
{
    private const ulong Topic = 7;
    private const int Bytes = 1_000;
    private const int BudgetMessages = 8;

    private static readonly NodeKey A = new(1, 1);
    private static readonly NodeKey B = new(2, 1);

    private readonly HandDrivenEnvironment _environment = new();
    private readonly RecordingSink _sink = new();
    private readonly SwitchedGate _gate = new();
    private readonly RecordingReceiver _receiver = new();
    private readonly ParkingBudget _budget;
    private readonly HoldingSink _holding;

    public HoldingSinkTests()
    {
        _budget = new ParkingBudget(BudgetMessages * ParkingBudget.Cost(Bytes), 1 << 20, NodeHeap.OfProcess);
        _holding = new HoldingSink(new ChannelSpec(Topic), _sink, _gate, _environment, _budget, (_, _) => _receiver);
    }

    [Fact]
    public void A_message_that_may_pass_is_passed_at_once_and_costs_nothing()
    {
        Assert.True(Offer(A, 1));

        Assert.Equal(["A1"], _sink.Log);
        Assert.Equal((0, 0L), (_holding.Held, _budget.Bytes));
    }

    [Fact]
    public void Messages_behind_a_closed_gate_count_as_taken_and_are_passed_in_order_when_it_opens()
    {
        _gate.Closed.Add(A);
        for (int number = 1; number <= 3; number++)
        {
            Assert.True(Offer(A, number));
        }

        Assert.True(Offer(B, 1));
        Assert.Equal(["B1"], _sink.Log);
        Assert.Equal(3, _holding.Held);

        _gate.Closed.Clear();
        _holding.Pump();

        Assert.Equal(["B1", "A1", "A2", "A3"], _sink.Log);
        Assert.Equal((0, 3L, 0L), (_holding.Held, _holding.Progress, _budget.Bytes));
    }

    [Fact]
    public void A_later_message_of_a_sender_never_overtakes_one_that_waits()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        _gate.Closed.Clear();

        Assert.True(Offer(A, 2));
        Assert.Empty(_sink.Log);
        _holding.Pump();

        Assert.Equal(["A1", "A2"], _sink.Log);
    }

    // Not within the call, which is in the middle of another sender's run.
    [Fact]
    public void Messages_behind_a_passed_message_follow_soon()
    {
        _gate.After[B] = A;
        Offer(B, 1);
        Offer(A, 1);
        Assert.Equal(["A1"], _sink.Log);

        _environment.Advance(TimeSpan.Zero);

        Assert.Equal(["A1", "B1"], _sink.Log);
    }

    [Fact]
    public void A_gap_keeps_its_place_among_the_messages_of_its_sender()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        _holding.OnGap(new TopicGap(A, Topic, 2, 3, TopicGapReason.SenderGone));
        Offer(A, 4);
        _holding.OnGap(new TopicGap(B, Topic, 1, 1, TopicGapReason.SenderGone));
        Assert.Equal(["B!1-1"], _sink.Log);

        _gate.Closed.Clear();
        _holding.Pump();

        Assert.Equal(["B!1-1", "A1", "A!2-3", "A4"], _sink.Log);
        Assert.Equal(["B!1-1", "A!2-3"], _gate.Gaps);
    }

    [Fact]
    public void News_of_what_is_stable_keep_their_place_among_the_messages_of_their_sender_and_the_gate_gets_them_at_once()
    {
        _gate.Closed.Add(A);
        _holding.OnStable(B, 9);
        Offer(A, 1);
        _holding.OnStable(A, 1);
        Offer(A, 2);
        // The last one of these counts.
        _holding.OnStable(A, 1);
        _holding.OnStable(A, 2);
        _holding.OnView(View(2));
        _holding.OnStable(A, 3);
        Offer(A, 4);
        Assert.Equal(["B=9"], _sink.Log);
        Assert.Equal(["B=9", "A=1", "A=1", "A=2", "A=3"], _gate.Stable);

        _gate.Closed.Clear();
        _holding.Pump();

        Assert.Equal(["B=9", "A1", "A=1", "A2", "A=2", "view 2", "A=3", "A4"], _sink.Log);
        Assert.Equal((0, 0L), (_holding.Held, _budget.Bytes));
    }

    [Fact]
    public void A_view_waits_for_the_messages_before_it_and_precedes_those_after_it()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        _holding.OnView(View(2));
        Assert.Equal(["ends 2"], _gate.Views);
        // B may pass, and waits for the view in which it was sent.
        Assert.True(Offer(B, 1));
        Assert.Empty(_sink.Log);

        _gate.Closed.Clear();
        _holding.Pump();

        Assert.Equal(["A1", "view 2", "B1"], _sink.Log);
        Assert.Equal(["ends 2", "is 2"], _gate.Views);
    }

    [Fact]
    public void Views_that_wait_are_few_and_the_others_are_asked_for_when_they_pass()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        int views = 1;
        while (_holding.HasRoomForView)
        {
            _holding.OnView(View(++views));
        }

        Assert.Equal(17, views);
        _gate.Closed.Clear();
        _holding.Pump();

        Assert.Equal(["A1", .. Enumerable.Range(2, 16).Select(static view => $"view {view}")], _sink.Log);
        Assert.True(_holding.HasRoomForView);
        Assert.Equal(1, _receiver.Resumes);
    }

    [Fact]
    public void A_gate_that_lets_pass_what_waits_when_the_view_ends_delays_no_view()
    {
        _gate.Closed.Add(A);
        _gate.OpensAtViewEnd = true;
        Offer(A, 1);

        _holding.OnView(View(2));

        Assert.Equal(["A1", "view 2"], _sink.Log);
    }

    [Fact]
    public void Messages_beyond_the_budget_are_refused_with_the_reason_and_asked_for_again_when_there_is_room()
    {
        _gate.Closed.Add(A);
        for (int number = 1; number <= BudgetMessages; number++)
        {
            Assert.True(Offer(A, number));
        }

        Assert.Null(_holding.WhyFull);
        Assert.False(Offer(A, BudgetMessages + 1));
        Assert.Equal("8 messages wait for the gate", _holding.WhyFull);
        Assert.Equal(0, _receiver.Resumes);

        _gate.Closed.Clear();
        _holding.Pump();

        Assert.Equal(1, _receiver.Resumes);
        Assert.Null(_holding.WhyFull);
        Assert.True(Offer(A, BudgetMessages + 1));
        Assert.Equal(BudgetMessages + 1, _sink.Log.Count);
    }

    [Fact]
    public void A_sink_without_room_refuses_a_message_that_need_not_wait_and_keeps_those_that_waited()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        Offer(A, 2);
        _sink.IsFull = true;
        Assert.False(Offer(B, 1));
        Assert.Null(_holding.WhyFull);
        _gate.Closed.Clear();
        _holding.Pump();
        Assert.Empty(_sink.Log);
        Assert.Equal(["B1", "A1"], _gate.Refused);

        _sink.IsFull = false;
        _holding.Resume();

        Assert.Equal(["A1", "A2"], _sink.Log);
        Assert.Equal(1, _receiver.Resumes);
    }

    [Fact]
    public void A_message_at_which_the_sink_throws_is_not_passed_again_and_the_others_follow()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        Offer(A, 2);
        _gate.Closed.Clear();
        _sink.Throws = new InvalidOperationException("As a handler may.");

        Assert.Throws<InvalidOperationException>(_holding.Pump);
        _sink.Throws = null;
        _environment.Advance(TimeSpan.FromMilliseconds(20));

        Assert.Equal(["A2"], _sink.Log);
        Assert.Equal(0, _holding.Held);
    }

    [Fact]
    public void Messages_that_waited_for_what_is_lost_follow_although_the_sink_throws_at_the_gap()
    {
        _gate.After[B] = A;
        Offer(B, 1);
        _gate.OpensAtGap = true;
        _sink.ThrowsAtGap = true;

        Assert.Throws<InvalidOperationException>(() => _holding.OnGap(new TopicGap(A, Topic, 1, 1, TopicGapReason.SenderGone)));
        _environment.Advance(TimeSpan.Zero);

        Assert.Equal(["B1"], _sink.Log);
    }

    [Fact]
    public void A_message_for_which_the_sink_has_no_memory_is_passed_again()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        _gate.Closed.Clear();
        _sink.Throws = new OutOfMemoryException();

        Assert.Throws<OutOfMemoryException>(_holding.Pump);
        Assert.Equal(["A1"], _gate.Refused);
        _sink.Throws = null;
        _environment.Advance(TimeSpan.FromMilliseconds(20));

        Assert.Equal(["A1"], _sink.Log);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_gate_that_throws_at_a_view_keeps_neither_the_view_nor_the_messages_behind_it(bool throwsAtEnd)
    {
        _gate.ThrowsAtViewEnd = throwsAtEnd;
        _gate.ThrowsAtView = !throwsAtEnd;
        Assert.Throws<InvalidOperationException>(() => _holding.OnView(View(2)));

        Assert.True(Offer(A, 1));
        _environment.Advance(TimeSpan.FromMilliseconds(20));

        Assert.Equal(["view 2", "A1"], _sink.Log);
        Assert.Equal(0, _holding.Held);
    }

    [Fact]
    public void A_message_at_which_the_gate_throws_is_asked_about_again()
    {
        _gate.ThrowsAtMessage = true;
        Assert.Throws<InvalidOperationException>(() => Offer(A, 1));
        _gate.ThrowsAtMessage = false;
        _environment.Advance(TimeSpan.FromMilliseconds(20));

        Assert.Equal(["A1"], _sink.Log);
        Assert.Equal(0, _holding.Held);
    }

    [Fact]
    public void A_gate_that_throws_at_the_news_of_what_is_stable_keeps_it_not_from_the_sink()
    {
        _gate.ThrowsAtStable = true;
        Assert.Throws<InvalidOperationException>(() => _holding.OnStable(A, 3));

        Assert.Equal(["A=3"], _sink.Log);
    }

    [Fact]
    public void A_subscription_that_leaves_is_complete_when_nothing_waits()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        var (settled, completed) = (false, false);
        _holding.AwaitLast(5, () => settled = true, () => completed = true);
        Assert.Equal((true, false), (settled, completed));

        _gate.Closed.Clear();
        _holding.Pump();

        Assert.True(completed);
    }

    [Fact]
    public void A_waiting_message_is_untaken_together_with_those_behind_it()
    {
        _gate.Closed.Add(A);
        Offer(A, 3);
        Offer(A, 4);
        _receiver.Behind = [new UntakenRange(A, 5, 9), new UntakenRange(B, 1, 2)];

        Assert.Equal([new UntakenRange(A, 3, 9), new UntakenRange(B, 1, 2)], _holding.Untaken());
        _receiver.TakenCount = 4;
        Assert.Equal(2, _holding.Taken);
    }

    [Fact]
    public void Closing_returns_what_the_messages_took_of_the_budget()
    {
        _gate.Closed.Add(A);
        Offer(A, 1);
        Assert.NotEqual(0, _budget.Bytes);

        _holding.Close();

        Assert.Equal(0, _budget.Bytes);
        Assert.True(_receiver.IsClosed);
        _holding.Pump();
        Assert.Empty(_sink.Log);
    }

    private static MemberView View(long configuration) => new()
    {
        TopicId = Topic,
        Configuration = configuration,
        Members = [A, B],
        Joined = [],
        Left = [],
    };

    private static string Of(NodeKey sender) => sender == A ? "A" : "B";

    private static string Of(in TopicGap gap) => $"{Of(gap.Sender)}!{gap.First}-{gap.Last}";

    private bool Offer(NodeKey sender, long number)
    {
        var message = new DeliveredMessage(sender);
        message.Set(Topic, number, new byte[Bytes], 0, Bytes);
        return _holding.TryAccept(message);
    }

    private sealed class RecordingSink : IDeliverySink
    {
        public List<string> Log { get; } = [];

        public bool IsFull { get; set; }

        public Exception? Throws { get; set; }

        public bool TryAccept(in DeliveredMessage message)
        {
            if (Throws is { } exception)
            {
                throw exception;
            }

            if (!IsFull)
            {
                Log.Add($"{Of(message.Sender)}{message.Sequence}");
            }

            return !IsFull;
        }

        public bool ThrowsAtGap { get; set; }

        public void OnGap(in TopicGap gap)
        {
            if (ThrowsAtGap)
            {
                throw new InvalidOperationException("As a handler may.");
            }

            Log.Add(Of(gap));
        }

        public void OnView(MemberView view) => Log.Add($"view {view.Configuration}");

        public void OnStable(NodeKey sender, long through) => Log.Add($"{Of(sender)}={through}");
    }

    private sealed class SwitchedGate : IDeliveryGate
    {
        private readonly HashSet<NodeKey> _passed = [];

        public HashSet<NodeKey> Closed { get; } = [];

        /// <summary>By sender, the one of which a message must have been passed.</summary>
        public Dictionary<NodeKey, NodeKey> After { get; } = [];

        public bool OpensAtViewEnd { get; set; }

        public List<string> Gaps { get; } = [];

        public List<string> Views { get; } = [];

        public List<string> Stable { get; } = [];

        public List<string> Refused { get; } = [];

        public string WaitsFor => "the gate";

        public bool ThrowsAtMessage { get; set; }

        public bool MayPass(in DeliveredMessage message)
        {
            ThrowIf(ThrowsAtMessage);
            return !Closed.Contains(message.Sender) && (!After.TryGetValue(message.Sender, out var first) || _passed.Contains(first));
        }

        public void OnPassing(in DeliveredMessage message) => _passed.Add(message.Sender);

        public void OnRefused(in DeliveredMessage message) => Refused.Add($"{Of(message.Sender)}{message.Sequence}");

        public bool OpensAtGap { get; set; }

        public void OnGap(in TopicGap gap)
        {
            Gaps.Add(Of(gap));
            if (OpensAtGap)
            {
                After.Clear();
            }
        }

        public bool ThrowsAtStable { get; set; }

        public bool ThrowsAtViewEnd { get; set; }

        public bool ThrowsAtView { get; set; }

        public void OnStable(NodeKey sender, long through)
        {
            Stable.Add($"{Of(sender)}={through}");
            ThrowIf(ThrowsAtStable);
        }

        public void OnViewEnding(MemberView next)
        {
            Views.Add($"ends {next.Configuration}");
            ThrowIf(ThrowsAtViewEnd);
            if (OpensAtViewEnd)
            {
                Closed.Clear();
            }
        }

        public void OnView(MemberView view)
        {
            Views.Add($"is {view.Configuration}");
            ThrowIf(ThrowsAtView);
        }

        private static void ThrowIf(bool throws)
        {
            if (throws)
            {
                throw new InvalidOperationException("As a protocol may.");
            }
        }
    }
}
