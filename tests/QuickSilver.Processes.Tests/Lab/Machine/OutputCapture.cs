using System.Diagnostics;
using System.Text;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// All that a process writes to one of its streams, byte for byte, read by a thread of its own so that the process never
// waits for the test.
internal sealed class OutputCapture
{
    private readonly object _lock = new();
    private readonly MemoryStream _bytes = new();
    private readonly Thread _reader;
    private int _lines;
    private bool _ended;

    public OutputCapture(Stream stream, string name)
    {
        _reader = new Thread(() => ReadAll(stream)) { IsBackground = true, Name = name };
        _reader.Start();
    }

    public int LineCount
    {
        get
        {
            lock (_lock)
            {
                return _lines;
            }
        }
    }

    public int Length
    {
        get
        {
            lock (_lock)
            {
                return (int)_bytes.Length;
            }
        }
    }

    public bool HasEnded
    {
        get
        {
            lock (_lock)
            {
                return _ended;
            }
        }
    }

    public byte[] Bytes()
    {
        lock (_lock)
        {
            return _bytes.ToArray();
        }
    }

    public string Text() => Encoding.UTF8.GetString(Bytes());

    /// <summary>The first complete line with this beginning after so many bytes; null if there is none yet.</summary>
    public string? FindLine(string beginning, int from)
    {
        string text;
        lock (_lock)
        {
            text = Encoding.UTF8.GetString(_bytes.GetBuffer(), from, (int)_bytes.Length - from);
        }

        return Array.Find(text.Split('\n')[..^1], line => (line + " ").StartsWith(beginning + " ", StringComparison.Ordinal));
    }

    /// <summary>The last complete line with this beginning; null if there is none.</summary>
    public string? FindLastLine(string beginning) =>
        Array.FindLast(Lines()[..^1], line => (line + " ").StartsWith(beginning + " ", StringComparison.Ordinal));

    public string[] Lines() => Text().Split('\n', StringSplitOptions.None);

    public string Tail(int lines) => string.Join('\n', Text().TrimEnd().Split('\n').TakeLast(lines));

    /// <summary>Waits until the capture is as asked; false when the stream ended or the time ran out before it was.</summary>
    public bool WaitUntil(Func<OutputCapture, bool> condition, TimeSpan limit)
    {
        var started = Stopwatch.GetTimestamp();
        lock (_lock)
        {
            while (!condition(this))
            {
                var left = limit - Stopwatch.GetElapsedTime(started);
                if (_ended || left <= TimeSpan.Zero)
                {
                    return false;
                }

                Monitor.Wait(_lock, left);
            }

            return true;
        }
    }

    public bool WaitForEnd(TimeSpan limit) => _reader.Join(limit);

    private void ReadAll(Stream stream)
    {
        var buffer = new byte[32 * 1024];
        var count = 1;
        while (count > 0)
        {
            try
            {
                count = stream.Read(buffer);
            }
            catch (IOException)
            {
                count = 0;
            }

            lock (_lock)
            {
                _bytes.Write(buffer, 0, count);
                _lines += buffer.AsSpan(0, count).Count((byte)'\n');
                _ended = count == 0;
                Monitor.PulseAll(_lock);
            }
        }
    }
}
