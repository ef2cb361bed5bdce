using System.Net;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Reachability;

public sealed class EchoExchangeTests
{
    private const int MaxAnswersPerSecond = 1024;

    [Fact]
    public void An_echo_is_answered_at_most_1024_times_a_second_wherever_its_answers_go()
    {
        var cluster = new MulticastCluster(1, 2, options: new MulticastOptions { ClusterId = 7 });
        cluster[0].Publishes(1);
        cluster[1].Subscribes(1);
        cluster.Commit();
        for (int second = 1; second <= 3; second++)
        {
            for (int i = 0; i < 30; i++)
            {
                cluster[1].OnCore(() => Echo(cluster, 100));
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
            }

            Assert.Equal(second * MaxAnswersPerSecond, cluster[0].Multicast.Context.Counters.EchoesAnswered);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(400));
        }
    }

    private static void Echo(MulticastCluster cluster, int count)
    {
        var (asker, target) = (cluster[1], cluster[0]);
        var context = asker.Multicast.Context;
        var packet = new byte[EchoPacket.Bytes];
        for (int i = 0; i < count; i++)
        {
            EchoPacket.Write(packet, context.Template(), i, new IPEndPoint(IPAddress.Parse("10.200.0.1"), 9_999));
            context.SendControl(packet, context.Directory.Find(target.Key)!);
        }
    }
}
