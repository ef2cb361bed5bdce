using System.Diagnostics;
using System.Globalization;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Microbenchmarks.Regions;

// What the membership service makes of irregular overlap, and how long that takes: `regions` for the paper's sizes, or
// `regions NODES TOPICS drawn|distinct [BATCH]` for one (see ZipfInterests), with so many nodes coming at a time.
internal static class RegionReport
{
    private const int Changes = 1000;
    private const ulong Seed = 1;
    private const double Alpha = 1.5;
    private const double Share = 0.1;

    public static void Run(string[] arguments)
    {
        if (arguments is [var nodeCount, var topicCount, var reading, ..])
        {
            int nodes = int.Parse(nodeCount, CultureInfo.InvariantCulture);
            int topics = int.Parse(topicCount, CultureInfo.InvariantCulture);
            int batch = arguments.Length > 3 ? int.Parse(arguments[3], CultureInfo.InvariantCulture) : nodes;
            Report(nodes, topics, reading == "distinct", batch);
            return;
        }

        foreach (int topics in (int[])[1000, 4000, 10_000])
        {
            foreach (int nodes in (int[])[250, 500, 1000, 2000])
            {
                Report(nodes, topics, distinct: false, nodes);
            }
        }
    }

    private static void Report(int nodes, int topics, bool distinct, int batch)
    {
        var interests = ZipfInterests.Draw(nodes, topics, distinct, Alpha, Share, Seed);
        var experiment = new IrregularOverlap(interests, Seed);
        long start = Stopwatch.GetTimestamp();
        for (int node = 0; node < nodes; node += batch)
        {
            experiment.Subscribe(node, Math.Min(batch, nodes - node));
        }

        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        var figures = experiment.Measure();
        Console.WriteLine(
            $"{nodes} nodes, {topics} topics, {(distinct ? "distinct" : "drawn")}, {batch} nodes at a time: {seconds:0.00} s, "
            + $"{GC.GetTotalMemory(forceFullCollection: true) >> 20} MB, {experiment.Map.Reassignments} topics moved, "
            + $"parted again {experiment.Map.Partitions} times");
        Console.WriteLine(
            $"  a node: {figures.TopicsPerNode:0.0} topics, {figures.RegionsPerNode:0.0} regions (most {figures.MostRegionsOfANode}), "
            + $"{figures.GroupsPerNode:0.0} with a group; two busiest {figures.ShareOfTwoBusiest:0.000} of its traffic, "
            + $"without a group {figures.ShareSentSingly:0.000}");
        Console.WriteLine(
            $"  a topic: {figures.SubscribersPerTopic:0.0} subscribers, {figures.GroupsPerTopic:0.00} regions with a group "
            + $"(most {figures.MostGroupsOfATopic}), {figures.RegionsPerTopic:0.0} with those without; "
            + $"{figures.SendsPerTopic:0.0} sends, a message {figures.SendsPerMessage:0.0}");
        Console.WriteLine($"  all: {figures.Sets} sets, {figures.Regions} regions, {figures.RegionsWithGroup} with a group");
        ReportChanges(experiment);
    }

    private static void ReportChanges(IrregularOverlap experiment)
    {
        double worst = 0, all = 0;
        long newViews = 0, regionViews = 0, topicViews = 0, mostViews = 0;
        for (int i = 0; i < Changes; i++)
        {
            long start = Stopwatch.GetTimestamp();
            var reported = experiment.ChangeOne();
            double millis = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
            worst = Math.Max(worst, millis);
            all += millis;
            newViews += reported.NewRegionViews;
            mostViews = Math.Max(mostViews, reported.NewRegionViews);
            regionViews += reported.RegionViews;
            topicViews += reported.TopicViews;
        }

        Console.WriteLine(
            $"  one change of a subscription: {all / Changes:0.00} ms (worst {worst:0.0}), "
            + $"{(double)newViews / Changes:0.0} new region views "
            + $"(most {mostViews}), {(double)regionViews / Changes:0} sent, {(double)topicViews / Changes:0} topic views");
    }
}
