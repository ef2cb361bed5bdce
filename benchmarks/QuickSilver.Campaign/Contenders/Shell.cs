using System.Diagnostics;

namespace QuickSilver.Campaign.Contenders;

// A program and all that it said, with an end in any case.
internal sealed class Shell : IDisposable
{
    private readonly Process _process;
    private readonly Task<string> _output;
    private readonly Task<string> _errors;

    public Shell(string file, params IEnumerable<string> arguments)
    {
        _process = Process.Start(new ProcessStartInfo(file, arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        _output = _process.StandardOutput.ReadToEndAsync();
        _errors = _process.StandardError.ReadToEndAsync();
    }

    /// <summary>The exit code and the output; a code of -1 when it had to be killed.</summary>
    public (int Code, string Output, string Errors) Wait(TimeSpan limit)
    {
        int code = -1;
        if (_process.WaitForExit(limit))
        {
            code = _process.ExitCode;
        }
        else
        {
            _process.Kill(entireProcessTree: true);
            _process.WaitForExit();
        }

        return (code, _output.Result, _errors.Result);
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill(entireProcessTree: true);
        }

        _process.Dispose();
    }
}
