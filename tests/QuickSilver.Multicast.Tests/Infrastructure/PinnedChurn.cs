namespace QuickSilver.Multicast.Tests.Infrastructure;

// Changes of a pinned topic that chance draws: a node joins the topic, leaves it, or crashes and is removed. Two at most crash.
internal sealed class PinnedChurn(MulticastCluster cluster, ulong topic, Random chance, int crashOneIn)
{
    private const int MostCrashes = 2;

    private readonly HashSet<Host> _gone = [];

    /// <summary>The nodes that have not crashed.</summary>
    public IEnumerable<Host> Left => cluster.Hosts.Where(host => !_gone.Contains(host));

    public void Change()
    {
        var one = cluster[chance.Next(cluster.Hosts.Count)];
        if (_gone.Contains(one))
        {
            return;
        }

        if (_gone.Count < MostCrashes && chance.Next(crashOneIn) == 0)
        {
            _gone.Add(one);
            one.Node.Crash();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(chance.Next(1, 300)));
            cluster.Service.Remove(one.Key);
            return;
        }

        if (one.IsSubscribed(topic))
        {
            one.StopsReceiving(topic);
        }
        else
        {
            one.Subscribes(topic);
        }

        cluster.Service.Commit();
    }

    /// <summary>Some steps in which all that are left publish, each with a change at its end.</summary>
    public void Run(int steps)
    {
        for (int step = 0; step < steps; step++)
        {
            foreach (var host in Left)
            {
                host.PublishAll(topic, chance.Next(60), chance.Next(10, 2_500));
            }

            cluster.Simulation.Run(TimeSpan.FromMilliseconds(chance.Next(1, 30)));
            Change();
        }
    }
}
