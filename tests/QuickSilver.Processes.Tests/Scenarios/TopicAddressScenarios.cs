using System.Diagnostics;
using System.Globalization;
using System.Net;
using QuickSilver.Processes.Tests.Lab;

namespace QuickSilver.Processes.Tests.Scenarios;

// A topic whose subscribers are in four regions, because each has a topic of its own besides: it has an address to which packets are sent
// once (the hybrid mode). I1 to I4.
public sealed class TopicAddressScenarios
{
    private const int Regions = 4;
    private const int Cut = 5;
    private const int Piece = 100;
    // A member tells after a quarter of a second that it does not hear the address.
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    [SkippableFact]
    public void A_topic_in_four_regions_is_sent_once_and_a_region_that_does_not_hear_its_address_gets_it_by_itself()
    {
        using var run = new Run();
        NftCommand.SkipUnlessUsable(run.Cluster.Network);

        run.PublishUntil("the address to be used", step => step.Publisher.SharedSent > 0);
        var census = run.Cluster.Switch.Census = new UdpCensus();
        var used = run.Publish();
        Assert.True(used.Publisher.SharedSent > 0, used.ToString());
        Assert.Equal((Regions - 1) * used.Publisher.SharedSent, used.Publisher.SendsSaved);
        Assert.All(used.Readers, reader => Assert.Equal(used.Publisher.SharedSent, reader.SharedReceived));
        var address = census.BytesByDestination().Where(each => IsGroup(each.Key.Address)).MaxBy(each => each.Value).Key.Address;

        NftCommand.DropGroup(run.Cluster.Network, Cut, address);
        var lacking = run.Publish();
        Assert.Equal(0, lacking.Readers[Cut - 2].SharedReceived);
        Assert.True(lacking.Readers[Cut - 2].Repairs > 0, lacking.ToString());
        var apart = run.PublishUntil(
            "its region to get the packets by itself", step => step.Readers[Cut - 2].Repairs == 0 && step.Publisher.SharedSent > 0);
        Assert.Equal((Regions - 2) * apart.Publisher.SharedSent, apart.Publisher.SendsSaved);
        Assert.Equal(0, apart.Readers[Cut - 2].SharedReceived);

        run.EndAndExpectNothingWrong();
    }

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
        private readonly NodeProcess _publisher;
        private readonly List<NodeProcess> _readers;
        private int _published;

        public Run()
        {
            Cluster = new QsmCluster(1 + Regions);
            _readers = [.. Enumerable.Range(2, Regions).Select(Start)];
            foreach (var (reader, i) in _readers.Select((reader, i) => (reader, i)))
            {
                Do(reader, "subscribe news reliable handler", "subscribed news");
                Do(reader, $"subscribe own{i} reliable handler", $"subscribed own{i}");
            }

            _publisher = Start(1);
            Do(_publisher, $"open news reliable {Regions}", "open news");
        }

        public QsmCluster Cluster { get; }

        /// <summary>Publishes a piece and waits until all have it.</summary>
        public Step Publish()
        {
            var before = Count();
            _published += Piece;
            Do(_publisher, $"publish news {Piece} 1000", $"published news {_published}");
            foreach (var reader in _readers)
            {
                Do(reader, $"expect news 1 {_published}", $"has news {_published} 0");
            }

            var after = Count();
            return new Step(
                after.Publisher.Since(before.Publisher), [.. after.Readers.Zip(before.Readers, (now, then) => now.Since(then))]);
        }

        public Step PublishUntil(string what, Func<Step, bool> condition)
        {
            var elapsed = Stopwatch.StartNew();
            while (elapsed.Elapsed < Limit)
            {
                var step = Publish();
                if (condition(step))
                {
                    return step;
                }
            }

            throw new TimeoutException($"waited for {what}: {Count()}\n{_publisher.Report()}");
        }

        public void EndAndExpectNothingWrong()
        {
            List<NodeProcess> all = [_publisher, .. _readers];
            all.ForEach(process => process.CloseInput());
            all.ForEach(process => process.ExpectExit(0));
        }

        public void Dispose() => Cluster.Dispose();

        private NodeProcess Start(int node)
        {
            var process = Cluster.StartProgram(
                Programs.StreamNode, node, Cluster.Service, Cluster.Network.Address(node).ToString(), "0");
            process.WaitForOutput(output => output.Lines().Contains("ready"), "it to be ready");
            return process;
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

        private static void Do(NodeProcess node, string command, string answer)
        {
            node.Feed(command + "\n");
            node.WaitForOutput(output => output.Lines()[..^1].Contains(answer), $"'{answer}'");
        }
    }
}
