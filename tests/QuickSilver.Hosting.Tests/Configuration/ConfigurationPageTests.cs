using System.Text.Json.Nodes;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Configuration;

// The schema and the page are files of the repository, so that they can be read there. An intended change of an option is accepted with
// QS_ACCEPT_API=1.
public sealed class ConfigurationPageTests
{
    private static string Root => RepositoryRoot.Path;

    [Fact]
    public void The_schema_that_the_package_carries_has_all_options() =>
        Compare("src/QuickSilver.Hosting/ConfigurationSchema.json", ConfigurationReference.Schema());

    [Fact]
    public void The_page_about_configuration_has_all_options() =>
        Compare("docs/configuration.md", ConfigurationReference.Page());

    [Fact]
    public void The_schema_describes_the_settings_of_the_samples()
    {
        var known = JsonNode.Parse(ConfigurationReference.Schema())!["properties"]!["QuickSilver"]!["properties"]!.AsObject();
        string[] files = Directory.GetFiles(Path.Combine(Root, "samples"), "appsettings.json", SearchOption.AllDirectories);
        Assert.NotEmpty(files);
        Assert.All(
            files.SelectMany(static file => JsonNode.Parse(File.ReadAllText(file))!["QuickSilver"]!.AsObject()),
            setting => Assert.True(known.ContainsKey(setting.Key), setting.Key));
    }

    private static void Compare(string path, string expected)
    {
        string file = Path.Combine(Root, path);
        if (Environment.GetEnvironmentVariable("QS_ACCEPT_API") == "1")
        {
            File.WriteAllText(file, expected);
        }

        Assert.True(File.Exists(file), $"{path} is missing. QS_ACCEPT_API=1 writes it.");
        string actual = File.ReadAllText(file).ReplaceLineEndings("\n");
        Assert.True(expected == actual, $"{path} differs from the options. QS_ACCEPT_API=1 writes it again.");
    }
}
