using System.Globalization;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Doctor.Storage;

// Of a directory for what a node keeps on disk. Path: the full one. Refusal: why a node could not use it, and what to do; null: it could.
// Holder: the process that has it; null: none.
internal sealed record StorageFacts(string Path, string? Refusal, string? Holder)
{
    public bool LacksPermission { get; init; }

    /// <summary>Whether it is there. If not, the facts are those of the directory in which it would be made.</summary>
    public bool Exists { get; init; } = true;

    /// <summary>The kind of its file system, such as "ext4"; null: the system does not report it.</summary>
    public string? FileSystem { get; init; }

    /// <summary>Whether that is a network's.</summary>
    public bool IsRemote { get; init; }

    /// <summary>What this user may still write; null: the system does not report it.</summary>
    public long? FreeBytes { get; init; }

    /// <summary>How long a write and a sync of a page take, the median of some; null: not measured.</summary>
    public TimeSpan? SyncTime { get; init; }
}

// Whether a node can keep logs in a directory, whether the disk keeps what was synced, and how long that takes.
internal static class StorageCheck
{
    public const string Name = "storage";

    private const long LeastFree = 1L << 30;
    // A solid-state disk takes less than a tenth of it.
    private static readonly TimeSpan Slow = TimeSpan.FromMilliseconds(10);
    private static readonly string[] InMemory = ["tmpfs", "ramfs", "devtmpfs"];
    private static readonly string[] OfContainer = ["overlay", "overlayfs", "aufs"];
    private static readonly string[] OfHost = ["9p", "v9fs", "virtiofs", "vboxsf", "fuse", "fuseblk", "prl_fs", "vmhgfs"];

    public static IEnumerable<Finding> Of(StorageFacts? facts)
    {
        if (facts is null)
        {
            return [Finding.NotChecked(Name, "Name the StorageDirectory of the node with --storage, if it has one.")];
        }

        if (facts.Refusal is { } refusal)
        {
            return [new Finding(Name, FindingStatus.Problem, refusal, facts.LacksPermission ? [Permit(facts)] : [])];
        }

        Finding[] wrong = [.. new[] { OfFileSystem(facts), OfSpace(facts), OfTime(facts) }.OfType<Finding>()];
        return wrong.Length > 0 ? wrong : [Finding.Ok(Name, $"{Subject(facts)}{Measured(facts)}")];
    }

    private static Finding? OfFileSystem(StorageFacts facts)
    {
        string file = $"The file system of {facts.Path} is {facts.FileSystem}";
        return facts.FileSystem switch
        {
            { } kind when InMemory.Contains(kind) => new Finding(
                Name,
                FindingStatus.Warning,
                $"{file}, which is in memory. What a node syncs there is lost with the machine's power. Use a directory on a disk."),
            { } kind when OfContainer.Contains(kind) => new Finding(
                Name,
                FindingStatus.Warning,
                $"{file}, which is the container's own and is deleted with it. Use a volume.",
                new Remedy(
                    $"docker run --mount type=volume,source=quicksilver,target={ShellWord.Of(facts.Path)} IMAGE",
                    "the container's host")),
            { } kind when facts.IsRemote || OfHost.Contains(kind) => new Finding(
                Name,
                FindingStatus.Warning,
                $"{file}, which another system keeps. Whether a loss of power takes what was synced depends on that system. Use a local "
                + "disk."),
            _ => null,
        };
    }

    private static Finding? OfSpace(StorageFacts facts) => facts.FreeBytes < LeastFree
        ? new Finding(
            Name,
            FindingStatus.Warning,
            $"{Size(facts.FreeBytes.Value)} are free on the disk of {facts.Path}. When it is full, logs fail until there is space.",
            new Remedy($"df -h {ShellWord.OfFile(facts.Path)}"))
        : null;

    private static Finding? OfTime(StorageFacts facts) => facts.SyncTime > Slow
        ? new Finding(
            Name,
            FindingStatus.Warning,
            $"{Subject(facts)}{Measured(facts)} Each message that must be on disk waits that long. Use a solid-state disk, or a controller "
            + "with a cache that survives a loss of power.")
        : null;

    private static string Subject(StorageFacts facts) => facts switch
    {
        { Holder: { } holder } => $"{facts.Path} belongs to {holder}, and another node that is started with it is refused.",
        { Exists: false } => $"{facts.Path} does not exist, and a node that is started with it creates it.",
        _ => $"{facts.Path} can be used.",
    };

    private static string Measured(StorageFacts facts)
    {
        string kind = facts.FileSystem is { } name ? $" Its file system is {name}." : "";
        string free = facts.FreeBytes is { } bytes ? $" {Size(bytes)} are free." : "";
        string time = facts.SyncTime is { } sync
            ? string.Create(CultureInfo.InvariantCulture, $" A write with a sync takes {sync.TotalMilliseconds:0.00} ms.")
            : "";
        return kind + free + time;
    }

    private static Remedy Permit(StorageFacts facts)
    {
        string user = ShellWord.Of(Environment.UserName);
        return new Remedy($"install -d -m 700 -o {user} {ShellWord.OfFile(facts.Path)}", "this host, as root");
    }

    private static string Size(long bytes) => BufferCheck.Size(bytes);
}
