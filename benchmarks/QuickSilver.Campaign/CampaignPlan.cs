namespace QuickSilver.Campaign;

internal sealed record CampaignPlan
{
    public required DirectoryInfo? Peers { get; init; }

    public required FileInfo Output { get; init; }

    public required int Rounds { get; init; }

    public required int Seconds { get; init; }

    public required bool IsQuick { get; init; }

    /// <summary>Receivers and message size of each row.</summary>
    public IReadOnlyList<Load> Loads => IsQuick
        ? [new(3, 1000), new(3, 100)]
        : [new(3, 1000), new(1, 1000), new(3, 100), new(1, 100)];
}

/// <summary>One sender to so many receivers, with messages of so many bytes.</summary>
internal readonly record struct Load(int Receivers, int Bytes)
{
    public override string ToString() => $"{Bytes} B to {Receivers}";
}
