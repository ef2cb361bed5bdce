using System.Net;
using QuickSilver.Tool.Dashboard;

namespace QuickSilver.Tool.Tests.Dashboard;

public sealed class DashboardAccessTests
{
    private const string Token = "0123456789abcdef";

    private static readonly DashboardAccess Local = new(IPAddress.Loopback, token: null, []);
    private static readonly DashboardAccess Open = new(IPAddress.Any, Token, ["watch.example"]);

    [Theory]
    [InlineData("localhost")]
    [InlineData("LocalHost")]
    [InlineData("127.0.0.1")]
    [InlineData("127.8.8.8")]
    [InlineData("[::1]")]
    public void On_the_loopback_interface_its_names_are_accepted(string host) => Assert.True(Local.AllowsHost(host));

    [Theory]
    [InlineData("evil.example")]
    [InlineData("127.0.0.1.evil.example")]
    [InlineData("localhost.evil.example")]
    [InlineData("10.0.0.1")]
    [InlineData("")]
    public void On_the_loopback_interface_all_other_names_are_refused(string host) => Assert.False(Local.AllowsHost(host));

    [Theory]
    [InlineData("10.0.0.1", true)]
    [InlineData("[fe80::1]", true)]
    [InlineData("WATCH.example", true)]
    [InlineData("localhost", true)]
    [InlineData("evil.example", false)]
    [InlineData("watch.example.evil.example", false)]
    public void Beyond_it_addresses_and_the_names_that_were_given_are_accepted(string host, bool isAllowed) =>
        Assert.Equal(isAllowed, Open.AllowsHost(host));

    [Fact]
    public void Beyond_the_loopback_interface_no_user_is_admitted_without_a_token() =>
        Assert.Contains("loopback", Assert.Throws<ArgumentException>(() => new DashboardAccess(IPAddress.Any, token: null, [])).Message);

    [Fact]
    public void Only_the_token_is_the_token_and_only_the_session_the_session()
    {
        Assert.True(Open.NeedsToken);
        Assert.True(Open.IsToken(Token));
        Assert.All(
            new[] { null, "", Token[..^1], Token + "0", Token.ToUpperInvariant(), Open.Session },
            given => Assert.False(Open.IsToken(given)));
        Assert.True(Open.IsSession(Open.Session));
        Assert.All(new[] { null, "", Token }, given => Assert.False(Open.IsSession(given)));
        Assert.DoesNotContain(Token, Open.Session);
    }

    [Fact]
    public void Without_a_token_nothing_is_one()
    {
        Assert.False(Local.NeedsToken);
        Assert.Null(Local.Session);
        Assert.False(Local.IsToken(""));
        Assert.False(Local.IsToken(null));
    }

    [Fact]
    public void On_the_loopback_interface_a_chosen_token_is_needed_as_well() =>
        Assert.True(new DashboardAccess(IPAddress.Loopback, Token, []).NeedsToken);

    [Fact]
    public void Another_token_has_another_session() =>
        Assert.NotEqual(Open.Session, new DashboardAccess(IPAddress.Any, "fedcba9876543210", []).Session);

    [Fact]
    public void Drawn_tokens_are_proper_ones_and_differ()
    {
        string one = DashboardAccess.DrawToken();
        Assert.Null(DashboardAccess.Fault(one));
        Assert.NotEqual(one, DashboardAccess.DrawToken());
    }

    [Theory]
    [InlineData("", "0 characters")]
    [InlineData("0123456789abcde", "15 characters")]
    [InlineData("0123456789 abcdef", "spaces")]
    [InlineData("0123456789abcdéf", "not ASCII")]
    public void A_fault_of_a_token_is_described_without_the_token(string token, string fault)
    {
        string said = DashboardAccess.Fault(token)!;
        Assert.Contains(fault, said);
        Assert.True(token.Length == 0 || !said.Contains(token));
    }
}
