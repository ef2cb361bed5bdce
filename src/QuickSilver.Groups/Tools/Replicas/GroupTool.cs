namespace QuickSilver.Groups.Tools.Replicas;

// A tool at one member: its copy of the state, and the group.
internal abstract class GroupTool : IReplicaOwner
{
    private IGroup<ReadOnlyMemory<byte>>? _group;

    protected GroupTool(string name, NodeId self, Machine machine, IToolHost host)
    {
        Name = name;
        Self = self;
        Host = host;
        Replica = new Replica(name, self, machine, this, host, ToolLimits.MostPending);
    }

    public string Name { get; }

    public Replica Replica { get; }

    protected NodeId Self { get; }

    protected IToolHost Host { get; }

    /// <summary>The group is open.</summary>
    public virtual void Begin(IGroup<ReadOnlyMemory<byte>> group)
    {
        _group = group;
        Replica.Begin(group);
    }

    public virtual ValueTask DisposeAsync() => _group?.DisposeAsync() ?? default;

    public abstract void OnChanged();

    public abstract void OnReplaced();

    public abstract void OnEnded(Exception reason);
}

/// <summary>A tool with its state machine, which is read under <see cref="Replica.Guard"/>.</summary>
internal abstract class GroupTool<TMachine>(string name, NodeId self, TMachine machine, IToolHost host)
    : GroupTool(name, self, machine, host)
    where TMachine : Machine
{
    protected TMachine State => machine;

    /// <summary>Reads the state machine under its guard.</summary>
    protected TRead Read<TRead>(Func<TMachine, TRead> read)
    {
        lock (Replica.Guard)
        {
            return read(machine);
        }
    }
}
