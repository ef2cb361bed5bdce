using QuickSilver.Groups.Ordering;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Groups.Tests.Ordering;

// The order of a group under all interleavings that a random schedule gives, by calls: each member receives the streams of all senders in
// their order, and otherwise in any.
public sealed class GroupGateTests
{
    private const int Seeds = 2_000;
    private const int Views = 3;

    private static readonly NodeKey[] Nodes = [new(4, 1), new(2, 1), new(3, 1), new(1, 1)];
    // It sends, and is no member.
    private static readonly NodeKey Stranger = new(9, 1);

    [Fact]
    public void All_members_pass_the_same_messages_of_each_view_in_the_same_order()
    {
        long ordered = 0, tails = 0, moved = 0;
        for (int seed = 1; seed <= Seeds; seed++)
        {
            var (orders, rest, moves) = RunSeed(seed);
            ordered += orders;
            tails += rest;
            moved += moves;
        }

        // All ways to be ordered occur.
        Assert.True(ordered > Seeds, $"{ordered} order messages.");
        Assert.True(tails > Seeds, $"{tails} messages without an order when their view ended.");
        Assert.True(moved > Seeds, $"{moved} times another member ordered.");
    }

    // The numbers of order messages, of messages that were not ordered when their view ended, and of moves of the order.
    private static (long Orders, long Left, long Moves) RunSeed(int seed)
    {
        var random = new Random(seed);
        int rounds = 1 + (seed % 3);
        OrderedMember[] members = [.. Nodes.Select(node => new OrderedMember(node, rounds) { IsFull = () => random.Next(10) == 0 })];
        NodeKey[] senders = [.. Nodes, Stranger];
        var numbers = senders.ToDictionary(static node => node, static _ => 0L);
        // What is stable makes members look again at what waits. Without that, the orders alone must do.
        bool hasSafe = seed % 2 == 0;
        var causes = new Dictionary<string, string[]>();
        long orders = 0, rest = 0, moves = 0;
        Begin(1);
        for (int configuration = 1; configuration <= Views; configuration++)
        {
            var streams = senders.ToDictionary(static node => node, static _ => new List<StreamItem>());
            var received = members.ToDictionary(static member => member, _ => senders.ToDictionary(static node => node, static _ => 0));
            for (int step = random.Next(100); step >= 0; step--)
            {
                switch (random.Next(4))
                {
                    case 0:
                        var sender = senders[random.Next(senders.Length)];
                        var member = members.FirstOrDefault(one => one.Self == sender);
                        bool isLost = random.Next(20) == 0 && sender != Orderer()?.Self;
                        byte[] payload = isLost ? [] : Payload((GroupFrame)random.Next(hasSafe ? 4 : 3), member);
                        streams[sender].Add(new StreamItem(++numbers[sender], payload));
                        if (payload is [(byte)GroupFrame.Causal, ..])
                        {
                            causes[$"{sender.Id}/{numbers[sender]}"] = [.. member!.Log.Where(IsMessage)];
                        }

                        break;
                    case 1 when random.Next(3) == 0:
                        SendOrders();
                        break;
                    default:
                        Receive(members[random.Next(members.Length)], random.Next(1, 4));
                        break;
                }
            }

            // The members hold the same when the view ends.
            ReceiveAll();
            if (!hasSafe && random.Next(2) == 0)
            {
                while (SendOrders())
                {
                    ReceiveAll();
                }

                Assert.All(members, one => Assert.True(
                    one.Held == 0, $"Seed {seed}, view {configuration}: all was ordered, and {one.Held} messages of {one.Self} wait."));
            }

            rest += Orderer()?.Gate.Arriving!.Pending.Count ?? 0;
            Begin(configuration + 1);
            AssertSame(configuration);

            // Null while the order moves. Never are there two.
            OrderedMember? Orderer() => members.SingleOrDefault(static member => member.Gate.Arriving!.IsOrdering);

            bool SendOrders()
            {
                if (Orderer() is not { } orderer)
                {
                    return false;
                }

                var view = orderer.Gate.Arriving!;
                var sent = OrdersOf(view);
                // Without safe messages nothing is stable here, and the order moves whenever it can.
                if (view.Pending.Count == 0
                    && (hasSafe ? view.Successor : random.Next(3) == 0 ? Nodes[random.Next(Nodes.Length)] : null) is { } next)
                {
                    sent.Add(Handover(view, next));
                    view.HandOver();
                    moves++;
                }

                orders += sent.Count;
                streams[orderer.Self].AddRange(sent.Select(body => new StreamItem(++numbers[orderer.Self], body)));
                return sent.Count > 0;
            }

            void ReceiveAll()
            {
                foreach (var one in members)
                {
                    while (received[one].Any(stream => stream.Value < streams[stream.Key].Count))
                    {
                        Receive(one, random.Next(1, 4));
                    }
                }
            }

            void Receive(OrderedMember member, int count)
            {
                var sender = senders[random.Next(senders.Length)];
                for (; count > 0 && received[member][sender] < streams[sender].Count; count--)
                {
                    member.Receive(sender, streams[sender][received[member][sender]++]);
                }

                var stable = senders[random.Next(senders.Length)];
                if (hasSafe && members.Min(one => received[one][stable]) is > 0 and var held)
                {
                    member.OnStable(stable, streams[stable][held - 1].Number);
                }
            }
        }

        return (orders, rest, moves);

        // Ranks move, so that each view has another orderer.
        void Begin(int configuration)
        {
            var view = new MemberView
            {
                TopicId = 1,
                Configuration = configuration,
                Members = [.. Nodes.Skip(configuration % Nodes.Length), .. Nodes.Take(configuration % Nodes.Length)],
                Joined = [],
                Left = [],
            };
            foreach (var member in members)
            {
                member.End(view);
                for (int tries = 0; tries < 1_000 && member.Held > 0; tries++)
                {
                    // The application had no room.
                    member.Pump();
                }
            }
        }

        void AssertSame(int configuration)
        {
            foreach (var member in members)
            {
                Assert.True(member.Held == 0, $"Seed {seed}, view {configuration}: {member.Held} messages of {member.Self} are held.");
                Assert.True(
                    member.Ordered.SequenceEqual(members[0].Ordered),
                    $"Seed {seed}, view {configuration}:\n{string.Join(' ', member.Ordered)}\n{string.Join(' ', members[0].Ordered)}");
                Assert.Equal(members[0].Log.Order(StringComparer.Ordinal), member.Log.Order(StringComparer.Ordinal));
                foreach (var (message, before) in causes)
                {
                    var earlier = member.Log.TakeWhile(one => one != message).ToHashSet();
                    string? late = before.FirstOrDefault(one => !earlier.Contains(one));
                    Assert.True(late is null, $"Seed {seed}, view {configuration}: {late} comes after {message} at {member.Self}.");
                }
            }
        }
    }

    // Not a gap. What a sender that is no member has sent is a cause as well.
    private static bool IsMessage(string one) => one.Contains('/');

    private static byte[] Payload(GroupFrame frame, OrderedMember? sender)
    {
        if (frame != GroupFrame.Causal || sender?.Gate.Passing is not { } view)
        {
            return [(byte)(frame == GroupFrame.Causal ? GroupFrame.Fifo : frame), 1, 2, 3];
        }

        byte[] body = new byte[StepsBody.HeaderBytes + view.MostCausesBytes];
        var (steps, bytes) = view.WriteCauses(sender.Self, body.AsSpan(StepsBody.HeaderBytes));
        StepsBody.WriteHeader(body, frame, view.Configuration, steps);
        view.OnCausesSent();
        return [.. body[..(StepsBody.HeaderBytes + bytes)], 1, 2, 3];
    }

    private static List<byte[]> OrdersOf(OrderedView view)
    {
        if (view.Pending.Count == 0)
        {
            return [];
        }

        byte[] body = new byte[StepsBody.MostOrderBytes];
        var only = view.Pending.OnlySender;
        var (steps, bytes) = view.Pending.Write(view, body);
        view.Pending.Remove(steps);
        view.Traffic.OnOrdered(only);
        return [body[..bytes]];
    }

    private static byte[] Handover(OrderedView view, NodeKey next)
    {
        byte[] body = new byte[StepsBody.HeaderBytes + StepsBody.StepBytes];
        StepsBody.WriteHeader(body, GroupFrame.Handover, view.Configuration, steps: 1);
        StepsBody.Write(body.AsSpan(StepsBody.HeaderBytes), view.RankOf(next), new OrderStep(next, 0));
        return body;
    }
}
