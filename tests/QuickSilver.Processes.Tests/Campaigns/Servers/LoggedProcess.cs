using System.Diagnostics;
using System.Globalization;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Servers;

// A process on a node of which each line is seen once, with the time at which it came: a campaign takes minutes, and what was said in
// them is not read again and again. Lines come from threads of this process.
internal class LoggedProcess : IDisposable
{
    private const int MostKept = 30;
    private readonly Process _process;
    private readonly Queue<string> _tail = new();
    private readonly string _logName;

    protected LoggedProcess(NetworkNamespaces network, int node, string file, params IEnumerable<string> arguments)
        : this(network, node, file, [], arguments)
    {
    }

    /// <param name="network">The namespaces.</param>
    /// <param name="node">In which of them it runs.</param>
    /// <param name="file">The program.</param>
    /// <param name="variables">Of its environment, each as NAME=VALUE.</param>
    /// <param name="arguments">Its arguments.</param>
    protected LoggedProcess(
        NetworkNamespaces network, int node, string file, IEnumerable<string> variables, IEnumerable<string> arguments)
    {
        Node = node;
        _logName = $"{Path.GetFileName(file)}-{node}";
        string[] command = ["netns", "exec", network.Name(node), "env", "--default-signal=HUP,INT,QUIT", .. variables, file, .. arguments];
        _process = Process.Start(new ProcessStartInfo(IpCommand.FullPath, command)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
    }

    /// <summary>Where all lines of all processes are kept, a file for each node; null: nowhere.</summary>
    public static string? Folder { get; set; }

    public int Node { get; }

    public int Id => _process.Id;

    public bool HasExited => _process.HasExited;

    /// <summary>The last lines of both streams.</summary>
    public string Tail
    {
        get
        {
            lock (_tail)
            {
                return string.Join('\n', _tail);
            }
        }
    }

    public void Tell(string line)
    {
        _process.StandardInput.WriteLine(line);
        _process.StandardInput.Flush();
    }

    public void Send(ProcessSignal signal)
    {
        if (!_process.HasExited)
        {
            _ = Linux.Kill(_process.Id, (int)signal);
        }
    }

    public void Kill()
    {
        Send(ProcessSignal.Kill);
        _process.WaitForExit(NodeProcess.Patience);
    }

    public bool WaitForExit(TimeSpan limit) => _process.WaitForExit(limit);

    public void Dispose()
    {
        Kill();
        _process.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>Called by the constructor of what derives from this, when it can take lines.</summary>
    protected void BeginReading()
    {
        Begin(_process.StandardOutput, OnOutput);
        Begin(_process.StandardError, OnError);
    }

    protected virtual void OnOutput(string line, long at)
    {
    }

    protected virtual void OnError(string line, long at)
    {
    }

    private void Begin(StreamReader reader, Action<string, long> take)
    {
        var thread = new Thread(() =>
        {
            while (reader.ReadLine() is { } line)
            {
                long at = Stopwatch.GetTimestamp();
                lock (_tail)
                {
                    _tail.Enqueue(line);
                    if (_tail.Count > MostKept)
                    {
                        _tail.Dequeue();
                    }

                    if (Folder is not null)
                    {
                        File.AppendAllText(Path.Combine(Folder, _logName), string.Create(
                            CultureInfo.InvariantCulture, $"{at / (double)Stopwatch.Frequency:F3} {line}\n"));
                    }
                }

                take(line, at);
            }
        })
        { IsBackground = true };
        thread.Start();
    }
}
