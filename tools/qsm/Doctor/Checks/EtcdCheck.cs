using QuickSilver.Core.Diagnostics;
using QuickSilver.Tool.Doctor.Keys;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Doctor.Checks;

// What one member of etcd says. Fault: why it did not answer, as the end of a sentence; null: it did.
internal sealed record EtcdAnswer(Uri Member, string? Fault)
{
    // The same for each URL of one member.
    public ulong Id { get; init; }

    public bool HasLeader { get; init; }

    // Nothing came back, so that its host or its process may be gone.
    public bool IsSilent { get; init; }

    // It runs, and certificates keep this host from asking it.
    public EtcdKeyFault KeyFault { get; init; }

    // What it reports of itself, such as a store that is full.
    public IReadOnlyList<string> Alarms { get; init; } = [];

    // At least, by the date of an answer, which has seconds: positive if its clock is ahead of that of this host.
    public TimeSpan ClockOffset { get; init; }

    public bool Answers => Fault is null;
}

// Voters: how many members the cluster has, as they say themselves; 0: none reported. Fault: why none was asked. Null: there is no etcd.
internal sealed record EtcdFacts(IReadOnlyList<EtcdAnswer> Answers, int Voters)
{
    public string? Fault { get; init; }

    public string? CertificateFile { get; init; }

    public string? AuthorityFile { get; init; }

    // Of the members, and of the files of this host.
    public IReadOnlyList<CertificateDates> Certificates { get; init; } = [];
}

// Whether the members of etcd answer, and how many of them may still fail before no server can lead.
internal static class EtcdCheck
{
    public const string Name = "etcd";
    private const string Loss = "No server can lead: data flows in the last views, but no node joins.";
    // As the operator's page calls them, where the options name none.
    private const string UsualAuthority = "etcd-authority.pem";
    private const string UsualCertificate = "etcd-client.pem";

    public static IReadOnlyList<Finding> Of(EtcdFacts? facts)
    {
        if (facts is null)
        {
            return [Finding.NotChecked(Name, "Name its members with --etcd, if servers share one.")];
        }

        if (facts.Fault is { } fault)
        {
            return [new Finding(Name, FindingStatus.Problem, fault)];
        }

        var answering = facts.Answers.Where(static one => one.Answers).DistinctBy(static one => one.Id).ToList();
        int voters = facts.Voters > 0 ? facts.Voters : facts.Answers.Count;
        Finding[] alarms = [.. answering.SelectMany(one => one.Alarms.Select(alarm => OfAlarm(facts, one, alarm)))];
        return answering.Exists(static one => one.HasLeader)
            ? [.. alarms, .. WithQuorum(facts, answering.Count, voters, isQuiet: alarms.Length > 0)]
            : answering.Count == 0 && facts.Answers.Any(static one => one.KeyFault != EtcdKeyFault.None) ? [Unverified(facts)]
            : [.. alarms, WithoutQuorum(facts, answering.Count, voters)];
    }

    /// <summary>How to ask etcd, from what is known of it.</summary>
    /// <param name="facts">Null: its members are not named.</param>
    public static Remedy AskOf(EtcdFacts? facts) =>
        facts is { Answers.Count: > 0 } ? Ask(facts) : new Remedy("etcdctl endpoint health", "a host of etcd");

    private static IEnumerable<Finding> WithQuorum(EtcdFacts facts, int answering, int voters, bool isQuiet)
    {
        EtcdAnswer[] silent = [.. facts.Answers.Where(static one => !one.Answers)];
        int named = answering + silent.Length;
        string share = $"{Share(answering, voters)}{Margin(answering, named, voters)}";
        if (silent.Length > 0)
        {
            return silent.Select(one => new Finding(
                Name,
                FindingStatus.Warning,
                $"{share} {one.Member} does not answer: {one.Fault}.",
                [.. one.IsSilent ? [Look([one])] : Array.Empty<Remedy>(), Ask(facts)]));
        }

        return named < voters ? [new Finding(Name, FindingStatus.Warning, share, MembersOf(facts))]
            : isQuiet ? []
            : [Finding.Ok(Name, $"{share}{Unprotected(facts)}")];
    }

    // What the members would say is not known, so nothing is said of their leader.
    private static Finding Unverified(EtcdFacts facts)
    {
        var first = facts.Answers.First(static one => one.KeyFault != EtcdKeyFault.None);
        EtcdAnswer[] silent = [.. facts.Answers.Where(static one => one.IsSilent)];
        string what = first.KeyFault == EtcdKeyFault.NotBelieved ? "This host cannot verify etcd" : "etcd does not answer this host";
        return new Finding(
            Name,
            FindingStatus.Problem,
            $"{what}, so it is not known whether a server can lead. {first.Member}: {first.Fault}.",
            [.. silent.Length > 0 ? [Look(silent)] : Array.Empty<Remedy>(), Ask(facts)]);
    }

    private static Finding WithoutQuorum(EtcdFacts facts, int answering, int voters)
    {
        EtcdAnswer[] away = [.. facts.Answers.Where(static one => !one.Answers)];
        EtcdAnswer[] silent = [.. away.Where(static one => one.IsSilent)];
        int least = Least(voters);
        string they = answering == 1 ? "it has" : "they have";
        string why = answering == 0 ? "."
            : answering < least ? $", and {they} no leader: {least} are needed."
            : $", and {they} no leader. They do not reach each other (TCP port 2380), or are about to elect one.";
        string first = away.Length > 0 ? $" {away[0].Member} does not answer: {away[0].Fault}." : "";
        return new Finding(
            Name,
            FindingStatus.Problem,
            $"{Share(answering, voters)}{why} {Loss}{first}",
            [.. silent.Length > 0 ? [Look(silent)] : Array.Empty<Remedy>(), Ask(facts)]);
    }

    private static Finding OfAlarm(EtcdFacts facts, EtcdAnswer member, string alarm)
    {
        string text = $"{member.Member} reports: {alarm}. While that lasts, etcd may take no changes, and then no server can lead.";
        return alarm.Contains("NOSPACE", StringComparison.Ordinal)
            ? new Finding(Name, FindingStatus.Problem, text, Etcdctl(facts, "defrag --cluster"), Etcdctl(facts, "alarm disarm"))
            : new Finding(Name, FindingStatus.Problem, text, Etcdctl(facts, "alarm list"));
    }

    private static int Least(int voters) => (voters / 2) + 1;

    private static string Share(int answering, int voters) =>
        $"{answering} of {Counted.Of(voters, "member")} {(answering == 1 ? "answers" : "answer")}";

    private static string Margin(int answering, int named, int voters) => (answering - Least(voters)) switch
    {
        _ when named < voters => $". --etcd names {named}: name all, here and for the servers.",
        _ when voters == 1 => ". It is the only one: while it is away, no server can lead.",
        < 0 => ", and they have a leader, so the others run: this host does not reach them.",
        0 => "; one more lost and no server can lead.",
        int spare => $"; {spare} more may fail.",
    };

    private static string Unprotected(EtcdFacts facts) => facts.Answers.Any(static one => !one.Member.IsLoopback && !IsProtected(one))
        ? " They are asked without TLS: let only the servers reach them."
        : "";

    private static bool IsProtected(EtcdAnswer answer) => answer.Member.Scheme == Uri.UriSchemeHttps;

    private static Remedy Look(IReadOnlyList<EtcdAnswer> members) =>
        new("systemctl status etcd", Listing.Of([.. members.Select(static one => one.Member.IdnHost).Distinct()]));

    private static Remedy Ask(EtcdFacts facts) => Etcdctl(facts, "endpoint health --cluster");

    private static Remedy MembersOf(EtcdFacts facts) => Etcdctl(facts, "member list");

    // Without TLS it needs no options on a host of etcd; the files of certificates are on this one.
    private static Remedy Etcdctl(EtcdFacts facts, string command)
    {
        var first = facts.Answers.FirstOrDefault(static one => one.Answers) ?? facts.Answers[0];
        if (!IsProtected(first))
        {
            return new Remedy($"etcdctl {command}", "a host of etcd");
        }

        string? believed = facts.AuthorityFile ?? UsualFor(facts, EtcdKeyFault.NotBelieved, UsualAuthority);
        string? shown = facts.CertificateFile ?? UsualFor(facts, EtcdKeyFault.NotAccepted, UsualCertificate)
            ?? UsualFor(facts, EtcdKeyFault.NotBelieved, UsualCertificate);
        string authority = believed is null ? "" : $" --cacert {ShellWord.OfFile(believed)}";
        string own = shown is null ? "" : $" --cert {ShellWord.OfFile(shown)} --key {ShellWord.OfFile(shown)}";
        string member = ShellWord.Of(first.Member.GetLeftPart(UriPartial.Authority));
        return new Remedy($"etcdctl --endpoints {member}{authority}{own} {command}");
    }

    private static string? UsualFor(EtcdFacts facts, EtcdKeyFault fault, string file) =>
        facts.Answers.Any(one => one.KeyFault == fault) ? file : null;
}
