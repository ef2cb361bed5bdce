using System.Globalization;
using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Doctor.Checks;

// A certificate of this process, of an authority that it trusts, of a service, or of what has to do with etcd. File: null if it is not of
// this machine.
internal sealed record CertificateDates(string Name, CertificateUse Use, DateTimeOffset From, DateTimeOffset Until)
{
    public string? File { get; init; }

    /// <summary>The roles, as the tool writes them.</summary>
    public string Role { get; init; } = "node";

    /// <summary>Where the service or the member of etcd is that has shown it; null: it is of this machine.</summary>
    public string? Where { get; init; }
}

internal enum CertificateUse
{
    Own,
    Authority,
    Service,
    // Of a member of etcd.
    Etcd,
    // Shown to etcd.
    EtcdClient,
    // Of the certificates of etcd's members.
    EtcdAuthority,
}

// Whether certificates are valid now, and remain so for a while.
internal static class CertificateCheck
{
    public const string Name = "certificates";

    /// <summary>A certificate that ends sooner is reported.</summary>
    public static readonly TimeSpan Notice = TimeSpan.FromDays(14);

    private const string Signer = "the host of the authority";
    // Stands for a name that no certificate can have.
    private const string AnyName = "NAME";
    // What `qsm keys` takes.
    private const int MostNameCharacters = 64;
    private static readonly Remedy SetClock = new("timedatectl set-ntp true");

    /// <param name="certificates">Those that could be read.</param>
    /// <param name="now">The time.</param>
    /// <param name="lacksOwn">Whether the options name some that could not be read.</param>
    public static IReadOnlyList<Finding> Of(IReadOnlyList<CertificateDates> certificates, DateTimeOffset now, bool lacksOwn = false) =>
    [
        .. lacksOwn ? [Finding.NotChecked(Name, "Those of this node cannot be used (see security).")] : Array.Empty<Finding>(),
        .. certificates.Count > 0 ? OfThose(certificates, now)
            : lacksOwn ? []
            : [Finding.NotChecked(Name, "None are used. Those that follow from a secret hold forever.")],
    ];

    private static IReadOnlyList<Finding> OfThose(IReadOnlyList<CertificateDates> certificates, DateTimeOffset now)
    {
        Finding[] wrong = [.. certificates.Select(one => Of(one, now)).OfType<Finding>()];
        var first = certificates.MinBy(static one => one.Until)!;
        return wrong.Length > 0
            ? wrong
            : [Finding.Ok(Name, $"They are valid. The first to end is that of {InWords(first)}, on {Day(first.Until)}.")];
    }

    private static Finding? Of(CertificateDates certificate, DateTimeOffset now)
    {
        string which = $"The certificate of {InWords(certificate)}";
        if (certificate.From > now)
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                $"{which} is not valid before {Time(certificate.From)}, and it is {Time(now)}. A clock is wrong, or it was made for later.",
                SetClock);
        }

        string until = Time(certificate.Until);
        return certificate.Until <= now
            ? new Finding(Name, FindingStatus.Problem, $"{which} has expired on {until}.{Advice(certificate)}", Remedies(certificate))
            : certificate.Until - now < Notice
                ? new Finding(
                    Name,
                    FindingStatus.Warning,
                    $"{which} expires in {Span(certificate.Until - now)}, on {until}.{Advice(certificate)}",
                    Remedies(certificate))
                : null;
    }

    private static string InWords(CertificateDates certificate) => certificate.Use switch
    {
        CertificateUse.Authority => $"the authority '{certificate.Name}'",
        CertificateUse.Service => $"the service '{certificate.Name}' at {certificate.Where}",
        CertificateUse.Etcd => $"the member of etcd '{certificate.Name}' at {certificate.Where}",
        CertificateUse.EtcdClient => $"this host towards etcd, '{certificate.Name}'",
        CertificateUse.EtcdAuthority => $"the authority of etcd '{certificate.Name}'",
        _ => $"this node, '{certificate.Name}'",
    };

    private static bool IsAuthority(CertificateDates certificate) =>
        certificate.Use is CertificateUse.Authority or CertificateUse.EtcdAuthority;

    private static string Advice(CertificateDates certificate) => IsAuthority(certificate)
        ? " Make another authority, and let the files of all machines contain both for a time."
        : " Make another one and put it in its place. It is read when a connection is made, without a restart.";

    private static Remedy[] Remedies(CertificateDates certificate)
    {
        string authority = certificate.Use is CertificateUse.Etcd or CertificateUse.EtcdClient or CertificateUse.EtcdAuthority
            ? "etcd-authority"
            : "authority";
        if (IsAuthority(certificate))
        {
            return
            [
                new Remedy($"qsm keys authority {NameOption(certificate)} --out {authority}-new.pem", Signer),
                new Remedy(
                    KeyRemedies.Append($"cat {authority}-new.pem", certificate.File ?? $"{authority}.pem"),
                    certificate.Use == CertificateUse.Authority ? "every machine" : "every host of a server or of etcd"),
            ];
        }

        // A client compares the name of the host with what the certificate is for.
        string hosts = certificate.Where is { } at && certificate.Use == CertificateUse.Etcd
            ? $" --host {ShellWord.Of(at[..at.LastIndexOf(':')].Trim('[', ']'))} --host 127.0.0.1"
            : "";
        string file = certificate.File is { } own ? Path.GetFileName(own) : FileOf(certificate.Name);
        string what = $"{NameOption(certificate)} --role {certificate.Role}{hosts} --out {ShellWord.QuotedFile(file)} --force";
        return [new Remedy($"qsm keys certificate --authority {authority}.pem {what}", Signer)];
    }

    // Others choose the names of their certificates, which may be false.
    private static string NameOption(CertificateDates certificate) =>
        ShellWord.Option("--name", IsName(certificate.Name) ? certificate.Name : AnyName);

    // Of the folder in which the command is run, and of no other.
    private static string FileOf(string name) =>
        IsName(name) && name[0] != '.' && name.AsSpan().IndexOfAny('/', '\\') < 0 ? $"{name}.pem" : "certificate.pem";

    private static bool IsName(string name) => name.Trim().Length is > 0 and <= MostNameCharacters && !name.Any(char.IsControl);

    private static string Span(TimeSpan left) => left.TotalDays >= 2
        ? string.Create(CultureInfo.InvariantCulture, $"{Math.Floor(left.TotalDays):0} days")
        : string.Create(CultureInfo.InvariantCulture, $"{Math.Floor(left.TotalHours):0} h");

    private static string Day(DateTimeOffset time) => time.UtcDateTime.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);

    private static string Time(DateTimeOffset time) => time.UtcDateTime.ToString("u", CultureInfo.InvariantCulture);
}
