using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Admissions;

// What a node had open when its connection broke, it has open when it comes back.
public sealed class RegistrationTests
{
    private const int Topics = 400;

    [Theory]
    [InlineData(3)]
    [InlineData(80)]
    public void A_node_with_many_topics_of_one_large_type_comes_back_after_the_service_restarts(int fields)
    {
        var limits = new SessionLimits { MaxTopics = 512, MaxRegistrationBytes = 128 << 10 };
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = limits });
        var nodes = cluster.AddNodes(2);
        var members = Enumerable.Range(1, fields).Select(n => new ContractField(n, $"AFieldWithAName{n}", "int64"));
        var contract = Requests.Departure([.. members]);
        for (int i = 0; i < Topics; i++)
        {
            nodes[0].Open($"topic {i}", TopicRole.Publish, contract);
        }

        cluster.Run(5);
        cluster.ServiceEnvironment.Crash();
        cluster.Run(1);
        cluster.StartService();
        cluster.Run(30);
        Assert.True(nodes[0].Client.IsReachable);
        Assert.Empty(nodes[0].RefusedTopics);
        Assert.Equal(0, cluster.Counters.GarbageFrames);
    }

    [Fact]
    public void The_largest_set_of_open_topics_fits_into_a_registration()
    {
        const int BesideNameAndContract = 64;
        var limits = new SessionLimits();
        long most = ((long)limits.MaxTopics * (SetTopicMessage.MaxNameBytes + BesideNameAndContract)) + limits.MaxContractBytes;
        Assert.InRange(most, 0, limits.MaxRegistrationBytes);
        Assert.InRange(limits.MaxRegistrationBytes, 0, limits.MaxRegistrationBytesInAll);
        // Those of as many nodes as one machine may run are still some.
        Assert.InRange(limits.MaxTopicsPerSource, 512 * limits.MaxSessionsPerAddress, long.MaxValue);
        Assert.InRange(limits.MaxContractBytesPerSource, (32L << 10) * limits.MaxSessionsPerAddress, long.MaxValue);
    }
}
