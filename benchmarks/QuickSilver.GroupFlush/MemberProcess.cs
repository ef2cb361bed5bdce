using System.Diagnostics;
using System.Globalization;

namespace QuickSilver.GroupFlush;

// The process of a member, and the views that it has reported.
internal sealed class MemberProcess : IDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private readonly Lock _turn = new();
    private readonly Process _process;
    private readonly List<string> _lines = [];
    private readonly List<ViewAt> _views = [];

    private MemberProcess(string service, int bytes)
    {
        string size = bytes.ToString(CultureInfo.InvariantCulture);
        var start = new ProcessStartInfo(System.Environment.ProcessPath!, ["member", service, size])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        _process = Process.Start(start)!;
        _process.OutputDataReceived += (_, one) => Note(one.Data);
        _process.BeginOutputReadLine();
    }

    public static async Task<MemberProcess> StartAsync(string service, int bytes)
    {
        var member = new MemberProcess(service, bytes);
        await member.WaitAsync("ready");
        return member;
    }

    public void Do(string command)
    {
        _process.StandardInput.WriteLine(command);
        _process.StandardInput.Flush();
    }

    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit();
    }

    /// <summary>Waits for a line with this beginning, takes it, and gives its words.</summary>
    public async Task<string[]> WaitAsync(string beginning)
    {
        string? line = null;
        await PollAsync(() => (line = Take(beginning)) is not null, () => beginning);
        return line!.Split(' ');
    }

    /// <summary>Waits for a view.</summary>
    public async Task<ViewAt> WaitForViewAsync(Func<ViewAt, bool> which)
    {
        ViewAt? found = null;
        await PollAsync(
            () =>
            {
                lock (_turn)
                {
                    return (found = _views.Find(view => which(view))) is not null;
                }
            },
            () => $"a view after {LastView}");
        return found!;
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        _process.Dispose();
    }

    private static async Task PollAsync(Func<bool> condition, Func<string> what)
    {
        long start = Stopwatch.GetTimestamp();
        while (!condition())
        {
            if (Stopwatch.GetElapsedTime(start) > Limit)
            {
                throw new TimeoutException($"'{what()}' did not come within {Limit}.");
            }

            await Task.Delay(5);
        }
    }

    private ViewAt? LastView
    {
        get
        {
            lock (_turn)
            {
                return _views.LastOrDefault();
            }
        }
    }

    private string? Take(string beginning)
    {
        lock (_turn)
        {
            int index = _lines.FindIndex(line => line.StartsWith(beginning, StringComparison.Ordinal));
            if (index < 0)
            {
                return null;
            }

            string line = _lines[index];
            _lines.RemoveAt(index);
            return line;
        }
    }

    private void Note(string? line)
    {
        lock (_turn)
        {
            if (line?.Split(' ') is ["view", var number, var members, var at])
            {
                _views.Add(new ViewAt(Number(number), (int)Number(members), Number(at)));
            }
            else if (line is not null)
            {
                _lines.Add(line);
            }
        }
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}
