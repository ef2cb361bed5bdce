using QuickSilver.Tool.Catalog;

namespace QuickSilver.Generators.Tests;

// What the shell prints of names that others have chosen.
public sealed class SafeTextTests
{
    [Fact]
    public void No_name_controls_the_terminal()
    {
        Assert.Equal("a\uFFFD[2Jb\uFFFDc", SafeText.Of("a\e[2Jb\nc"));
        Assert.Equal("naïve ✈", SafeText.Of("naïve ✈"));
    }

    [Fact]
    public void The_lines_of_a_text_remain() =>
        Assert.Equal("one\ntwo \uFFFD[31m\n\uFFFDthree", SafeText.OfLines("one\r\ntwo \e[31m\n\tthree"));
}
