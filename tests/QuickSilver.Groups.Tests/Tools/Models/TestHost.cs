using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tests.Tools.Models;

// A node whose contact to the membership service a test sets. All code runs on the calling thread.
internal sealed class TestHost : IToolHost
{
    private bool _isServiceHeard = true;

    public event Action? ServiceChanged;

    public TaskCreationOptions Completions => TaskCreationOptions.None;

    public bool ResumesInContext => false;

    public bool IsLive { get; set; } = true;

    public bool IsServiceHeard
    {
        get => _isServiceHeard;
        set
        {
            _isServiceHeard = value;
            ServiceChanged?.Invoke();
        }
    }

    public bool HasListeners => ServiceChanged is not null;

    public void RunBeside(IThreadPoolWorkItem work) => work.Execute();
}
