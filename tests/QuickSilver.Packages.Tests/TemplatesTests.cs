using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// Someone who installs the templates, and makes a project of each.
[Collection(nameof(Feed))]
public sealed class TemplatesTests(Feed feed)
{
    [Theory]
    [InlineData("quicksilver-worker")]
    [InlineData("quicksilver-web")]
    public void A_project_of_a_template_has_the_name_that_was_given_and_builds(string template)
    {
        string folder = Make(template);
        Assert.Contains("namespace Shop;", File.ReadAllText(Path.Combine(folder, "Reading.cs")));
        DotnetCommand.Dotnet(folder, "build", "-warnaserror", "-o", "bin");
        Assert.True(File.Exists(Path.Combine(folder, "bin", "appsettings.json")));
    }

    [Fact]
    public void The_test_of_a_template_passes()
    {
        string folder = Make("quicksilver-simulation");
        Assert.Contains("Passed:     1", DotnetCommand.Dotnet(folder, "test"));
    }

    private string Make(string template)
    {
        string folder = feed.NewcomersFolder("template-" + template);
        string hive = Path.Combine(folder, "hive");
        DotnetCommand.Dotnet(folder, "new", "install", feed.PathOf("QuickSilver.Templates"), "--debug:custom-hive", hive);
        DotnetCommand.Dotnet(folder, "new", template, "-n", "Shop", "-o", Path.Combine(folder, "Shop"), "--debug:custom-hive", hive);
        return Path.Combine(folder, "Shop");
    }
}
