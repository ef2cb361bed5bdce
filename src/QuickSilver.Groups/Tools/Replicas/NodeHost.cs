using QuickSilver.Endpoints;

namespace QuickSilver.Groups.Tools.Replicas;

// The node of a tool.
internal sealed class NodeHost(QuickSilverNode node) : IToolHost
{
    private readonly IEndpointNode _core = node.Core;
    private readonly Lock _lock = new();
    private Action? _changed;

    // The node keeps those that are notified, so each tool removes itself when it ends.
    public event Action? ServiceChanged
    {
        add
        {
            lock (_lock)
            {
                if (_changed is null)
                {
                    node.StatusChanged += OnStatusChanged;
                }

                _changed += value;
            }
        }
        remove
        {
            lock (_lock)
            {
                _changed -= value;
                if (_changed is null)
                {
                    node.StatusChanged -= OnStatusChanged;
                }
            }
        }
    }

    public TaskCreationOptions Completions => _core.Completions;

    public bool ResumesInContext => _core.ResumesInContext;

    public bool IsServiceHeard => node.IsServiceHeard;

    public bool IsLive => node.IsLive;

    public void RunBeside(IThreadPoolWorkItem work) => _core.Environment.RunBeside(work);

    private void OnStatusChanged(object? sender, NodeStatusChangedEventArgs change) => _changed?.Invoke();
}
