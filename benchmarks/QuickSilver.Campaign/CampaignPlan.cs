namespace QuickSilver.Campaign;

internal sealed record CampaignPlan
{
    public required DirectoryInfo? Peers { get; init; }

    public required FileInfo Output { get; init; }

    public required int Rounds { get; init; }

    public required int Seconds { get; init; }

    public required bool IsQuick { get; init; }
}
