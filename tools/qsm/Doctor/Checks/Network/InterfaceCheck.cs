using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Doctor.Checks.Network;

// Choice: which interface a node takes, and why; null: none, for the reason in Fault. Others: addresses that it could take.
internal sealed record InterfaceFacts(string? Choice, string? Fault, IReadOnlyList<string> Others);

// Whether a node finds the interface that its options name.
internal static class InterfaceCheck
{
    public const string Name = "interface";

    public static Finding Of(InterfaceFacts facts)
    {
        if (facts.Choice is not null)
        {
            return Finding.Ok(Name, facts.Choice);
        }

        var remedies = facts.Others.Select(static other => new Remedy($"qsm doctor --interface {ShellWord.Of(other)}"));
        return new Finding(Name, FindingStatus.Problem, facts.Fault ?? "", [.. remedies]);
    }
}
