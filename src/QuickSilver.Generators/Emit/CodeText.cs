using System.Text;

namespace QuickSilver.Generators.Emit;

// Source text with Allman braces. Line ends are the same on every system, so that the output is.
internal sealed class CodeText
{
    private readonly StringBuilder _text = new();
    private int _depth;

    public CodeText Line(string line = "")
    {
        if (line.Length > 0)
        {
            _text.Append(' ', 4 * _depth).Append(line);
        }

        _text.Append('\n');
        return this;
    }

    public CodeText Open(string line)
    {
        if (line.Length > 0)
        {
            Line(line);
        }

        Line("{");
        _depth++;
        return this;
    }

    public CodeText Close(string after = "")
    {
        _depth--;
        return Line("}" + after);
    }

    public CodeText CloseStatement()
    {
        _depth--;
        return Line("};");
    }

    public override string ToString() => _text.ToString();
}
