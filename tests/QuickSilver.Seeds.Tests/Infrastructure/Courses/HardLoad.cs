using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// What hardships have the applications of a run do besides: publish at full rate, publish large messages, stop reading, and come and go for
// a while so that tables would grow that are never cleared.
internal sealed class HardLoad(WholeCluster cluster, Scene scene)
{
    private const int MostSleepers = 3;
    private const int MostSenders = 3;
    private const int MostPerTick = 60;
    private const int FullRateBytes = 1000;
    private const double FullRateShare = 0.3;
    private const double LargeShare = 0.02;
    private const int SmallestLarge = 64 << 10;
    private const int LargestShift = 6;
    // The largest message to as many regions as a topic may have needs more blocks than the least memory has.
    private const int LargestShiftInLittleMemory = 3;
    private const int ChurnRounds = 4;
    private const double WithoutRightShare = 0.3;

    private readonly SeededRandom _random = SeededRandom.Derive(cluster.Seed, purpose: 30, owner: 0);

    /// <summary>Before any node has subscribed.</summary>
    public void ChooseSleepers()
    {
        if (!scene.Hardships.HasFlag(Hardships.SleepingReaders))
        {
            return;
        }

        for (int i = _random.Below(MostSleepers); i >= 0; i--)
        {
            var node = cluster.Nodes[_random.Below(cluster.Nodes.Count)];
            cluster.Sleepers.Add((node.Machine.Number, node.Subscriptions.ElementAt(_random.Below(node.Subscriptions.Count))));
        }

        cluster.AreReadersAsleep = true;
    }

    public void Publish()
    {
        PublishWithoutRight();
        // Seconds of full rate, and seconds of rest.
        bool isFull = scene.Hardships.HasFlag(Hardships.FullRate)
            && SeededRandom.Derive(cluster.Seed, purpose: 31, (ulong)cluster.Simulation.Now.TotalSeconds).Chance(FullRateShare);
        for (int i = 0; isFull && i < MostSenders && i < cluster.Nodes.Count; i++)
        {
            PublishAll(cluster.Nodes[i]);
        }

        if (scene.Hardships.HasFlag(Hardships.LargeMessages) && _random.Chance(LargeShare))
        {
            var node = cluster.Nodes[_random.Below(cluster.Nodes.Count)];
            bool hasLittle = scene.Hardships.HasFlag(Hardships.LittleMemory);
            int shift = _random.Below(hasLittle ? LargestShiftInLittleMemory : LargestShift);
            int bytes = (SmallestLarge + _random.Below(SmallestLarge)) << shift;
            cluster.Publish(node, node.Publications.First(), bytes);
        }
    }

    /// <summary>Rounds in which topics, regions and peers come and go; with the same open after each, reads the tables.</summary>
    public void ChurnTables(Action round)
    {
        if (!scene.Hardships.HasFlag(Hardships.Churned))
        {
            return;
        }

        for (int i = 0; i <= ChurnRounds; i++)
        {
            round();
            cluster.ReadTables();
        }
    }

    // A subscriber knows the region in which the others hear, and needs no permission to send there.
    private void PublishWithoutRight()
    {
        if (scene.Cluster.Rights is null || !_random.Chance(WithoutRightShare))
        {
            return;
        }

        var node = cluster.Nodes[_random.Below(cluster.Nodes.Count)];
        string[] topics = [.. node.Subscriptions.Where(topic => !node.MayPublish(topic))];
        if (topics.Length > 0 && node.CanAct)
        {
            byte[] payload = [.. Enumerable.Repeat((byte)_random.Below(256), 16 + _random.Below(200))];
            node.Current.PublishWithoutRight(topics[_random.Below(topics.Length)], payload);
        }
    }

    private void PublishAll(WholeNode node)
    {
        string topic = node.Publications.First();
        for (int i = 0; i < MostPerTick && cluster.Publish(node, topic, FullRateBytes); i++)
        {
        }
    }
}
