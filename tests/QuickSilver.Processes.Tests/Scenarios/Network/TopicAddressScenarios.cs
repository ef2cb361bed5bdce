using System.Globalization;
using System.Net;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// A topic whose subscribers are in four regions, because each has a topic of its own besides: it has an address to which packets are sent
// once (the hybrid mode). I1 to I4.
public sealed class TopicAddressScenarios
{
    private const int Regions = 4;
    private const int Cut = 5;
    private const int Piece = 100;
    // A member reports after a quarter of a second that it does not hear the address.
    private const int MostPieces = 5_000;

    [Fact]
    public void A_topic_in_four_regions_is_sent_once_and_a_region_that_does_not_hear_its_address_gets_it_by_itself()
    {
        using var run = new Run();
        NftCommand.SkipUnlessUsable(run.Cluster.Network);

        var census = run.Cluster.Switch.Census = new UdpCensus();
        run.PublishUntil("a piece to be sent once to all", step =>
        {
            bool isShared = IsShared(step.Publisher, regions: Regions)
                && step.Readers.All(reader => reader.SharedReceived == step.Publisher.SharedSent);
            if (!isShared)
            {
                census.Reset();
            }

            return isShared;
        });
        var address = census.BytesByDestination().Where(each => IsGroup(each.Key.Address)).MaxBy(each => each.Value).Key.Address;

        NftCommand.DropGroup(run.Cluster.Network, Cut, address);
        run.PublishUntil("repairs of what the firewall drops", step => Cutoff(step) is { SharedReceived: 0, Repairs: > 0 });
        run.PublishUntil(
            "its region to get the packets by itself",
            step => Cutoff(step) is { SharedReceived: 0, Repairs: 0 } && IsShared(step.Publisher, regions: Regions - 1));
        run.EndAndExpectNothingWrong();
    }

    // A busy machine may keep a region waiting, which then gets some packets by itself.
    private static bool IsShared(Counts publisher, int regions) =>
        publisher.SharedSent > 0 && publisher.SendsSaved == (regions - 1) * publisher.SharedSent;

    private static Counts Cutoff(Step step) => step.Readers[Cut - 2];

    private static bool IsGroup(IPAddress address) => address.GetAddressBytes()[0] is >= 224 and < 240;

    // What the nodes counted while a piece was published.
    private sealed record Step(Counts Publisher, IReadOnlyList<Counts> Readers);

    private sealed record Counts(long SharedSent, long SendsSaved, long SharedReceived, long Repairs)
    {
        public Counts Since(Counts before) => new(
            SharedSent - before.SharedSent,
            SendsSaved - before.SendsSaved,
            SharedReceived - before.SharedReceived,
            Repairs - before.Repairs);
    }

    private sealed class Run : IDisposable
    {
        private readonly StreamNodes _nodes = new(1 + Regions);
        private readonly NodeProcess _publisher;
        private readonly List<NodeProcess> _readers;
        private int _published;

        public Run()
        {
            _readers = [.. Enumerable.Range(0, Regions).Select(
                i => _nodes.Subscriber(2 + i, "news reliable handler", $"own{i} reliable handler"))];
            _publisher = _nodes.Node(1);
            StreamNodes.Do(_publisher, $"open news reliable {Regions}", "open news");
        }

        public QsmCluster Cluster => _nodes.Cluster;

        public void PublishUntil(string what, Func<Step, bool> condition)
        {
            for (int i = 0; i < MostPieces; i++)
            {
                if (condition(Publish()))
                {
                    return;
                }
            }

            throw new TimeoutException($"waited for {what}: {Count()}\n{_publisher.Report()}");
        }

        public void EndAndExpectNothingWrong() => _nodes.EndAndExpectNothingWrong();

        public void Dispose() => _nodes.Dispose();

        // Waits until all have it.
        private Step Publish()
        {
            var before = Count();
            _published += Piece;
            StreamNodes.Do(_publisher, $"publish news {Piece} 1000", $"published news {_published}");
            foreach (var reader in _readers)
            {
                StreamNodes.Do(reader, $"expect news 1 {_published}", $"has news {_published} 0");
            }

            var after = Count();
            return new Step(
                after.Publisher.Since(before.Publisher), [.. after.Readers.Zip(before.Readers, (now, then) => now.Since(then))]);
        }

        private Step Count() => new(CountsOf(_publisher), _readers.ConvertAll(CountsOf));

        private static Counts CountsOf(NodeProcess node)
        {
            int before = Answers(node).Length;
            node.Feed("count\n");
            node.WaitForOutput(_ => Answers(node).Length > before, "the counts");
            long[] numbers = [.. Answers(node)[^1].Split(' ').Skip(1).Select(word => long.Parse(word, CultureInfo.InvariantCulture))];
            return new Counts(numbers[0], numbers[1], numbers[2], numbers[3]);
        }

        private static string[] Answers(NodeProcess node) =>
            [.. node.Output.Lines()[..^1].Where(line => line.StartsWith("counts ", StringComparison.Ordinal))];
    }
}
