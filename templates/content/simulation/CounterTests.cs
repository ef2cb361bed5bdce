using QuickSilver.Simulation;
using Xunit;

namespace QuickSilverSimulation;

public sealed class CounterTests
{
    // Runs with 10 seeds. A seed that fails prints the command that runs it again. QS_SEEDS=1000 runs more.
    [Fact]
    public void All_nodes_have_the_same_sum_whatever_the_network_does() =>
        Simulate.ManySeeds(10, new SimulationOptions { Nodes = 3 }, cluster =>
        {
            var counters = new Counter[3];
            int ready = 0;
            cluster.Start(async node =>
            {
                var topic = await node.Node.OpenTopicAsync<Added>("sums");
                var counter = counters[node.Number] = new Counter();
                counter.Attach(topic);
                await topic.WaitForSubscribersAsync(3);
                ready++;
                for (int amount = 1; amount <= 10; amount++)
                {
                    await topic.PublishAsync(new Added(amount));
                    await Task.Delay(TimeSpan.FromMilliseconds(100), node.Time);
                }
            });
            cluster.RunFaults(new FaultSchedule().At(
                TimeSpan.FromMilliseconds(500), "node 2 pauses", all => all.Nodes[2].Pause(TimeSpan.FromSeconds(1))));
            cluster.Eventually("all have the same sum", () => ready == 3 && counters.All(counter => counter.Sum == 3 * 55));
        });
}
