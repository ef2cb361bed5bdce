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

    public bool IsRoundTrip { get; init; }

    public string RatioTitle { get; init; } = "QuickSilver over it";

    public required IReadOnlyList<Row> Rows { get; init; }
}

/// <summary>A contender, and the two of its section whose ratio stands in its row; none: the row has no ratio.</summary>
internal sealed record Row(IContender Contender, IContender? Over = null, IContender? Under = null)
{
    public Series Runs { get; } = new();
}
