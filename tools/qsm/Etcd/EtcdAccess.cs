namespace QuickSilver.Tool.Etcd;

/// <summary>A file, and the option or variable that named it.</summary>
internal sealed record EtcdFile(string Path, string Source);

/// <summary>Where etcd is, and with what its members and this process prove themselves to each other.</summary>
/// <param name="Members">The addresses of members.</param>
internal sealed record EtcdAccess(IReadOnlyList<Uri> Members)
{
    /// <summary>What this process shows, with its key; null: nothing.</summary>
    public EtcdFile? Certificate { get; init; }

    /// <summary>The trusted authorities; null: those of the system.</summary>
    public EtcdFile? Authority { get; init; }
}
