using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Contracts;

public sealed class ContractParametersTests
{
    private static readonly ContractDescription Plain = Requests.Bytes with { Guarantee = "Ordered" };

    [Fact]
    public void Parameters_are_equal_if_their_bytes_are() => Prop.ForAll<byte[], byte[]>((one, drawn) =>
    {
        // Arrays that are drawn apart are hardly ever equal.
        byte[] other = drawn.Length % 2 == 0 ? [.. one] : drawn;
        var (left, right) = (new ContractParameters(one), new ContractParameters(other));
        Assert.Equal(one.AsSpan().SequenceEqual(other), left == right);
        Assert.Equal(left == right, (Plain with { Parameters = left }).Equals(Plain with { Parameters = right }));
        Assert.True(left != right || left.GetHashCode() == right.GetHashCode());
        Assert.Equal(one, left.Bytes.ToArray());
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Absent_parameters_equal_empty_ones()
    {
        Assert.Equal(ContractParameters.None, new ContractParameters([]));
        Assert.True(ContractParameters.Of("").IsEmpty);
        Assert.Equal("", ContractParameters.None.ToString());
    }

    [Theory]
    [InlineData("order=causal;members<=9", "order=causal;members<=9")]
    [InlineData("\u0001\u0002", "0x0102")]
    [InlineData("a\nb", "0x610a62")]
    public void People_see_text_where_it_is_text_and_otherwise_the_bytes(string parameters, string shown) =>
        Assert.Equal(shown, ContractParameters.Of(parameters).ToString());

    [Theory]
    [InlineData("order=causal", "order=total", "the parameters order=causal", "the parameters order=total")]
    [InlineData("", "order=total", "no parameters", "the parameters order=total")]
    [InlineData("k=2", "", "the parameters k=2", "no parameters")]
    public void Endpoints_with_other_parameters_do_not_match_and_the_refusal_names_both(
        string open, string asked, string openInWords, string askedInWords)
    {
        var (has, wants) = (With(open), With(asked));

        Assert.Equal(
            $"Topic 'prices' has the guarantee Ordered with {openInWords}; this endpoint asks for {askedInWords}.",
            ContractMatch.Difference("prices", has, wants));
        Assert.Null(ContractMatch.Difference("prices", has, With(open)));
        Assert.False(ContractDisplay.IsSameWithout(has, wants));
    }

    [Fact]
    public void A_subscriber_of_any_payload_agrees_on_the_parameters_too() => Assert.NotNull(
        ContractMatch.Difference("prices", With("k=2"), With("k=3") with { Kind = ContractDescription.AnyKind }));

    [Fact]
    public void An_endpoint_that_agrees_with_all_parameters_matches_each_and_those_do_not_match_each_other()
    {
        var any = Plain with { Parameters = ContractParameters.Any };
        string[] all = ["", "k=2", "k=3", "*"];

        Assert.All(all, one => Assert.Null(ContractMatch.Difference("prices", With(one), any)));
        Assert.All(all, one => Assert.Null(ContractMatch.Difference("prices", any, With(one))));
        Assert.NotNull(ContractMatch.Difference("prices", With("k=2"), With("k=3")));
        Assert.NotEqual(any, With("k=2"));
    }

    [Fact]
    public void Parameters_beyond_the_limit_are_refused()
    {
        Assert.Null(ContractLimits.Problem("prices", With(new string('x', ContractParameters.MaxBytes))));
        Assert.Equal(
            "Topic 'prices': the parameters of the guarantee Ordered have 257 bytes. The limit is 256.",
            ContractLimits.Problem("prices", With(new string('x', ContractParameters.MaxBytes + 1))));
    }

    private static ContractDescription With(string parameters) => Plain with { Parameters = ContractParameters.Of(parameters) };
}
