using QuickSilver.Campaign.Contenders;

namespace QuickSilver.Campaign;

/// <summary>One sender to so many receivers, with messages of so many bytes.</summary>
internal readonly record struct Load(int Receivers, int Bytes)
{
    public override string ToString() => $"{Bytes} B to {Receivers}";
}

/// <summary>One table of the page: contenders that run after one another in each round, under one load.</summary>
internal sealed record Section
{
    public required string Title { get; init; }

    /// <summary>The plot's file name.</summary>
    public required string Slug { get; init; }

    public string Text { get; init; } = "";

    public required Load Load { get; init; }

    /// <summary>The columns; the first is plotted.</summary>
    public IReadOnlyList<Figure> Figures { get; init; } = Figure.Throughput;

    public string ClaimTitle { get; init; } = "QuickSilver over it";

    public required IReadOnlyList<Row> Rows { get; init; }
}

/// <summary>A contender, its runs, and what they are held to.</summary>
internal sealed class Row(IContender contender)
{
    private readonly List<Claim> _claims = [];

    public IContender Contender => contender;

    public Series Runs { get; } = new();

    public IReadOnlyList<Claim> Claims => _claims;

    public Row Hold(Claim claim)
    {
        _claims.Add(claim);
        return this;
    }

    public Row Hold(string name, Row over, Row under, Figure figure, Bar? bar = null) =>
        Hold(Claim.Ratio(name, over, under, figure, bar));

    /// <summary>Holds its rate against that of another.</summary>
    public Row HoldOver(Row under, Bar? bar = null) => Hold("", this, under, Figure.Rate, bar);

    /// <summary>Holds the rate of another against its own.</summary>
    public Row HoldUnder(Row over, Bar? bar = null) => Hold("", over, this, Figure.Rate, bar);

    /// <summary>Holds a figure of its own against the bar.</summary>
    public Row Hold(string name, Figure figure, Bar bar) => Hold(Claim.Of(name, this, figure, bar));
}
