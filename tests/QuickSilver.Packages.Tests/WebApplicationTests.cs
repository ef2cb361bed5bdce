using System.Text.RegularExpressions;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// A web application and its test, as the page about testing shows them.
[Collection(nameof(Feed))]
public sealed class WebApplicationTests(Feed feed)
{
    [Fact]
    public void The_web_application_on_the_page_is_tested_without_a_socket()
    {
        string folder = feed.NewcomersFolder("web");
        string shop = Directory.CreateDirectory(Path.Combine(folder, "Shop")).FullName;
        File.WriteAllText(Path.Combine(shop, "Program.cs"), WebPage.Application);
        NewcomersProject.Write(shop, "Shop", NewcomersProject.Kind.Web, ("QuickSilver.Hosting", Feed.Version));
        string tests = Directory.CreateDirectory(Path.Combine(folder, "Shop.Tests")).FullName;
        File.WriteAllText(Path.Combine(tests, "OrderTests.cs"), WebPage.Test);
        NewcomersProject.Write(
            tests,
            "Shop.Tests",
            NewcomersProject.Kind.Library,
            ("QuickSilver.Hosting", Feed.Version),
            ("Microsoft.AspNetCore.Mvc.Testing", Feed.Known("MvcTesting")),
            ("Microsoft.NET.Test.Sdk", Feed.Known("TestSdk")),
            ("xunit", Feed.Known("Xunit")),
            ("xunit.runner.visualstudio", Feed.Known("XunitRunner")));
        string project = Path.Combine(tests, "Shop.Tests.csproj");
        File.WriteAllText(
            project,
            Regex.Replace(
                File.ReadAllText(project), "</ItemGroup>", """<ProjectReference Include="../Shop/Shop.csproj" /></ItemGroup>"""));
        Assert.Contains("Passed:     1", DotnetCommand.Dotnet(tests, "test", "-warnaserror"));
    }
}
