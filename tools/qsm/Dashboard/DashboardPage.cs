using System.Security.Cryptography;
using System.Text;

namespace QuickSilver.Tool.Dashboard;

// The page in one piece: a browser fetches nothing else. Its scripts and styles carry a number that is drawn for each request, and the
// browser runs no others.
internal static class DashboardPage
{
    private static readonly string[] Parts = Compose().Split("{{nonce}}");

    public static string DrawNonce() => Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));

    public static string Html(string nonce) => string.Join(nonce, Parts);

    /// <summary>What a browser sees that has not shown the token.</summary>
    /// <param name="nonce">As of the page.</param>
    /// <param name="wasWrong">Whether it has shown another.</param>
    public static string SignIn(string nonce, bool wasWrong) => Resource("sign-in.html")
        .Replace("{{nonce}}", nonce, StringComparison.Ordinal)
        .Replace("{{wrong}}", wasWrong ? "This is not the token." : "", StringComparison.Ordinal);

    public static string SecurityPolicy(string nonce) =>
        $"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

    private static string Compose() => new StringBuilder(Resource("dashboard.html"))
        .Replace("{{style}}", Resource("uPlot.min.css", "uPlot") + Resource("dashboard.css"))
        .Replace("{{license}}", Resource("LICENSE", "uPlot"))
        .Replace("{{chart}}", Resource("uPlot.iife.min.js", "uPlot"))
        .Replace("{{format}}", Resource("format.js"))
        .Replace("{{charts}}", Resource("charts.js"))
        .Replace("{{tables}}", Resource("tables.js"))
        .Replace("{{contracts}}", Resource("contracts.js"))
        .Replace("{{groups}}", Resource("groups.js"))
        .Replace("{{script}}", Resource("dashboard.js"))
        .ToString();

    private static string Resource(string name, string folder = "dashboard")
    {
        using var stream = typeof(DashboardPage).Assembly.GetManifestResourceStream($"{folder}/{name}")!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}
