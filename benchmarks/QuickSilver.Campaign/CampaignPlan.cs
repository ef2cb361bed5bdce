namespace QuickSilver.Campaign;

internal sealed record CampaignPlan
{
    public required DirectoryInfo? Peers { get; init; }

    /// <summary>Where the command `lab` lies; without it nothing is measured over a link that loses.</summary>
    public required DirectoryInfo? Lab { get; init; }

    public required FileInfo Output { get; init; }

    /// <summary>How the names of the sections begin that are measured; none: all are.</summary>
    public required IReadOnlyList<string> Only { get; init; }

    public required int Rounds { get; init; }

    public required int Seconds { get; init; }

    public required bool IsQuick { get; init; }
}
