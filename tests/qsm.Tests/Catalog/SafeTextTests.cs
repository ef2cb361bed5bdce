using QuickSilver.Tool.Catalog;

namespace QuickSilver.Tool.Tests.Catalog;

// What the shell prints of names that others have chosen.
public sealed class SafeTextTests
{
    [Fact]
    public void No_name_controls_the_terminal()
    {
        Assert.Equal("a\uFFFD[2Jb\uFFFDc", SafeText.Of("a\e[2Jb\nc"));
        Assert.Equal("naïve ✈", SafeText.Of("naïve ✈"));
    }

    [Theory]
    [InlineData("abc\u202Egnp.exe")]
    [InlineData("\u2066x\u2069")]
    [InlineData("Or\u200Ders\u200B")]
    [InlineData("\u061C\u200E\u200F\uFEFF\u2060\u00AD")]
    [InlineData("one\u2028two\u2029three\u0085")]
    [InlineData("tag \U000E0041")]
    [InlineData("half \uD800")]
    public void No_name_shows_another_text_than_it_has(string name)
    {
        string shown = SafeText.Of(name);
        Assert.Contains('\uFFFD', shown);
        Assert.True(SafeText.IsSafe(shown));
        Assert.DoesNotContain(shown, static c => c is >= '\u202A' and <= '\u202E' or >= '\u2066' and <= '\u2069');
    }

    [Theory]
    [InlineData("می\u200Cخواهم")]
    [InlineData("👩\u200D🚀")]
    [InlineData("שלום")]
    public void Names_of_all_scripts_are_shown_as_they_are(string name) => Assert.Equal(name, SafeText.Of(name));

    [Fact]
    public void The_lines_of_a_text_remain() =>
        Assert.Equal("one\ntwo \uFFFD[31m\n\uFFFDthree", SafeText.OfLines("one\r\ntwo \e[31m\n\tthree"));
}
