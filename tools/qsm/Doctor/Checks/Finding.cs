namespace QuickSilver.Tool.Doctor.Checks;

// How it stands with one thing. In the order of gravity.
internal enum FindingStatus
{
    // What it depends on is missing, or nothing uses it.
    NotChecked,
    Ok,
    // Nodes work, but worse than they could, or only as long as nothing else happens.
    Warning,
    // Nodes do not start, do not meet, or do not get each other's messages.
    Problem,
}

// What fixes a finding. Where: the machine on which the command is to run; null: this one.
internal sealed record Remedy(string Command, string? Where = null);

// What one check says of one thing.
internal sealed record Finding(string Check, FindingStatus Status, string Text, params IReadOnlyList<Remedy> Remedies)
{
    public static Finding Ok(string check, string text) => new(check, FindingStatus.Ok, text);

    public static Finding NotChecked(string check, string text) => new(check, FindingStatus.NotChecked, text);
}
