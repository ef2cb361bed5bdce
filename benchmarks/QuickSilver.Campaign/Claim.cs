using System.Globalization;

namespace QuickSilver.Campaign;

/// <summary>A limit that a median has to keep.</summary>
internal sealed record Bar(double Limit, bool IsLeast)
{
    public static Bar AtLeast(double limit) => new(limit, IsLeast: true);

    public static Bar AtMost(double limit) => new(limit, IsLeast: false);

    public bool IsMetBy(double figure) => IsLeast ? figure >= Limit : figure <= Limit;

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{(IsLeast ? '≥' : '≤')} {Limit}");
}

/// <summary>What a row is held to: a ratio within the rounds or a figure by itself, and the bar, where there is one.</summary>
internal sealed record Claim(string Name, Func<Spread> Measured, string Format, Bar? Bar)
{
    private const string RatioFormat = "F2";

    public string Verdict => Bar is null ? ""
        : !Measured().IsKnown ? $"{Bar}: not measured"
        : Bar.IsMetBy(Measured().Median) ? $"{Bar}: met"
        : $"{Bar}: **not met**";

    public string Text => Measured().ToText(Format) is { Length: > 0 } text ? $"{Name} {text}".TrimStart() : "";

    public static Claim Ratio(string name, Row over, Row under, Figure figure, Bar? bar) =>
        new(name, () => over.Runs.Over(under.Runs, figure.Of), RatioFormat, bar);

    public static Claim Of(string name, Row row, Figure figure, Bar bar) =>
        new(name, () => row.Runs.Of(figure.Of), figure.Format, bar);
}
