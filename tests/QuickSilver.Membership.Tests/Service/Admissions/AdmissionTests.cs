using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Admissions;
using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Admissions;

public sealed class AdmissionTests
{
    // What the first member is at decides for all, so the first one must be such that the others can reach it.
    [Theory]
    [InlineData("0.0.0.0", "127.0.0.1", true)]
    [InlineData("::", "::1", true)]
    [InlineData("10.0.0.1", "127.0.0.1", true)]
    [InlineData("127.0.0.1", "127.0.0.1", false)]
    [InlineData("127.0.0.1", "127.0.0.7", false)]
    [InlineData("::1", "::1", false)]
    [InlineData("0.0.0.0", "10.0.0.7", false)]
    [InlineData("::", "fd00::7", false)]
    public void A_service_for_other_machines_refuses_a_node_that_they_cannot_reach(string listensOn, string node, bool isRefused)
    {
        var numbers = new ConfigurationNumbers(new MemoryMembershipStore(), NullLogger.Instance, life: 7);
        var members = new MemberTable(new FailureDetector(new FailureDetectorOptions()));
        var admission = new Admission("c", numbers, new EndedLives(7), members, life: 7, () => IPAddress.Parse(listensOn));
        string? refusal = admission.Refuse(
            new JoinMessage
            {
                Cluster = "c",
                ProtocolVersion = ControlFrame.ProtocolVersion,
                Node = new NodeKey(1, 1),
                EndPoint = new IPEndPoint(IPAddress.Parse(node), 5000),
            },
            IPAddress.Parse(node));
        Assert.Equal(isRefused, refusal is not null);
        if (isRefused)
        {
            Assert.Contains(node, refusal, StringComparison.Ordinal);
            Assert.Contains(listensOn, refusal, StringComparison.Ordinal);
            Assert.Contains("option Interface", refusal, StringComparison.Ordinal);
        }
    }
}
