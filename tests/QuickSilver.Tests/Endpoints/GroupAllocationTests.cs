using QuickSilver.Core.Environment;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Protocol;
using QuickSilver.Groups.Questions;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints;

// What a message of a group allocates at a member between its channel and its endpoint, which have tests of their own (AllocationTests).
[Collection(nameof(AllocationTests))]
public sealed class GroupAllocationTests : IDisposable
{
    private const ulong Topic = 5;
    private const int Messages = 20_000;

    // The array of the steps of a message that names one other: header, length and one element.
    private const int StepsOfOne = 16 + 8 + 24;

    private static readonly NodeKey First = new(1, 1);
    private static readonly NodeKey Second = new(2, 1);
    private static readonly NodeKey Self = new(3, 1);

    private readonly TestEnvironment _environment = new(threaded: false);
    private readonly CountingSink _sink = new();
    private readonly HoldingSink _holding;
    private readonly byte[] _payload = new byte[1_000];
    private long _first;
    private long _second;

    public GroupAllocationTests()
    {
        var gate = new GroupGate(Self);
        var asked = new AskedQuestions("hot", Self, new NoPost());
        var receiver = new GroupReceiver(_sink, gate, Self, asked, static _ => { }, static () => { });
        var budget = new ParkingBudget(1 << 20, 1 << 20, NodeHeap.OfProcess);
        receiver.Holding = _holding = new HoldingSink(
            new ChannelSpec(Topic), receiver, gate, _environment, budget, static (_, _) => new NoChannel());
        _holding.OnView(new MemberView { TopicId = Topic, Configuration = 1, Members = [First, Second, Self], Joined = [], Left = [] });
    }

    [Theory]
    [InlineData(GroupFrame.Fifo)]
    [InlineData(GroupFrame.Total)]
    public void A_message_that_waits_for_nothing_allocates_nothing(object frame)
    {
        _payload[0] = (byte)(GroupFrame)frame;
        Assert.Equal(0, Allocations.After(() =>
        {
            for (int i = 0; i < Messages; i++)
            {
                Receive(First, ++_first, _payload);
            }
        }));
        Assert.Equal(_first, _sink.Taken);
    }

    [Fact]
    public void A_message_whose_place_another_member_decides_costs_one_object_at_most()
    {
        _payload[0] = (byte)GroupFrame.Total;
        byte[] order = new byte[StepsBody.HeaderBytes + StepsBody.StepBytes];
        StepsBody.WriteHeader(order, GroupFrame.Orders, configuration: 1, steps: 1);
        long allocated = Allocations.After(() =>
        {
            for (int i = 0; i < Messages; i++)
            {
                Receive(Second, ++_second, _payload);
                StepsBody.Write(order.AsSpan(StepsBody.HeaderBytes), rank: 1, new OrderStep(Second, _second));
                Receive(First, ++_first, order);
                _holding.Pump();
            }
        });
        Assert.Equal(_second, _sink.Taken);
        Assert.InRange(allocated, 1, Messages * StepsOfOne);
    }

    [Fact]
    public void A_causal_message_costs_one_object_at_most()
    {
        byte[] payload = new byte[StepsBody.HeaderBytes + StepsBody.StepBytes + 1_000];
        StepsBody.WriteHeader(payload, GroupFrame.Causal, configuration: 1, steps: 1);
        byte[] cause = [(byte)GroupFrame.Fifo, 1];
        long allocated = Allocations.After(() =>
        {
            for (int i = 0; i < Messages; i++)
            {
                Receive(First, ++_first, cause);
                StepsBody.Write(payload.AsSpan(StepsBody.HeaderBytes), rank: 0, new OrderStep(First, _first));
                Receive(Second, ++_second, payload);
            }
        });
        Assert.Equal(_first + _second, _sink.Taken);
        Assert.InRange(allocated, 1, Messages * StepsOfOne);
    }

    public void Dispose() => _environment.Dispose();

    private void Receive(NodeKey sender, long number, byte[] payload)
    {
        var message = new DeliveredMessage(sender);
        message.Set(Topic, number, payload, 0, payload.Length);
        Assert.True(_holding.TryAccept(message));
    }

    private sealed class CountingSink : IDeliverySink
    {
        public long Taken { get; private set; }

        public bool TryAccept(in DeliveredMessage message)
        {
            // A view is a message without a number.
            Taken += message.Sequence > 0 ? 1 : 0;
            return true;
        }

        public void OnGap(in TopicGap gap) => throw new NotSupportedException();
    }

    private sealed class NoChannel : ITopicReceiver
    {
        public void Resume()
        {
        }

        public void Close()
        {
        }
    }

    private sealed class NoPost : IReplyPost
    {
        public void Open() => throw new NotSupportedException();

        public long NextId() => throw new NotSupportedException();

        public void Send(NodeKey to, byte[] letter, TaskCompletionSource sent) => throw new NotSupportedException();
    }
}
