using System.Globalization;
using System.Net;
using System.Text;

namespace QuickSilver.Campaign.Report;

// Horizontal bars with the median as length and a whisker from the least to the most.
internal static class BarChart
{
    private const int Width = 760;
    private const int LabelWidth = 120;
    private const int FigureWidth = 110;
    private const int RowHeight = 26;
    private const int Top = 34;

    public static string Draw(string title, string format, IReadOnlyList<(string Label, Spread Runs, bool IsOwn)> bars)
    {
        double most = bars.Select(bar => bar.Runs.Most).DefaultIfEmpty(0).Max();
        double scale = most <= 0 ? 0 : (Width - LabelWidth - FigureWidth) / most;
        var svg = new StringBuilder();
        void Add(FormattableString line) => svg.Append(line.ToString(CultureInfo.InvariantCulture)).Append('\n');
        int height = Top + (RowHeight * bars.Count) + 10;
        const string Style = "font-family=\"sans-serif\" font-size=\"13\"";
        Add($"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{Width}\" height=\"{height}\" {Style}>");
        Add($"<rect width=\"{Width}\" height=\"{height}\" fill=\"#ffffff\"/>");
        Add($"<text x=\"8\" y=\"20\" font-weight=\"bold\">{WebUtility.HtmlEncode(title)}</text>");
        for (int i = 0; i < bars.Count; i++)
        {
            var bar = bars[i];
            int y = Top + (i * RowHeight);
            int middle = y + (RowHeight / 2);
            double begin = LabelWidth + (bar.Runs.Least * scale);
            double end = LabelWidth + (bar.Runs.Most * scale);
            string color = bar.IsOwn ? "#2f6fb2" : "#9aa7b4";
            Add($"<text x=\"{LabelWidth - 8}\" y=\"{middle + 4}\" text-anchor=\"end\">{WebUtility.HtmlEncode(bar.Label)}</text>");
            double length = bar.Runs.Median * scale;
            Add($"<rect x=\"{LabelWidth}\" y=\"{y + 4}\" width=\"{length:F1}\" height=\"{RowHeight - 8}\" fill=\"{color}\"/>");
            Add($"<line x1=\"{begin:F1}\" x2=\"{end:F1}\" y1=\"{middle}\" y2=\"{middle}\" stroke=\"#222222\"/>");
            Add($"<text x=\"{end + 8:F1}\" y=\"{middle + 4}\">{bar.Runs.Median.ToString(format, CultureInfo.InvariantCulture)}</text>");
        }

        return svg.Append("</svg>\n").ToString();
    }
}
