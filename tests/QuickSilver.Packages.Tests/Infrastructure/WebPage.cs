namespace QuickSilver.Packages.Tests.Infrastructure;

// The web application and its test on the page about testing.
internal static class WebPage
{
    private const string Page = "docs/testing.md";

    public static string Application { get; } = Find("WebApplication.CreateBuilder");

    public static string Test { get; } = Find("WebApplicationFactory<Program>");

    private static string Find(string what) =>
        CodeBlock.All.Single(block => block.Page == Page && block.Text.Contains(what, StringComparison.Ordinal)).Text;
}
