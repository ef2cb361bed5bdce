using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// A web application and its test, as the page about testing shows them.
[Collection(nameof(Feed))]
public sealed class WebApplicationTests(Feed feed)
{
    internal static IReadOnlyList<UserProgram> UserPrograms { get; } =
    [
        UserProgram.Of("Shop", NewcomersProject.Kind.Web, WebPage.Application, ("QuickSilver.Hosting", Feed.Version)),
        UserProgram.Of(
            "ShopTests",
            NewcomersProject.Kind.Test,
            WebPage.Test,
            ("QuickSilver.Hosting", Feed.Version),
            ("Microsoft.AspNetCore.Mvc.Testing", Feed.Known("MvcTesting"))) with { References = ["Shop"] },
    ];

    [Fact]
    public void The_web_application_on_the_page_is_tested_without_a_socket() =>
        Assert.Contains("Passed:     1", feed.Programs.Test("ShopTests"));
}
